import { describeAdministration } from './administration.ts';

describeAdministration({ withServer: false });
