import { describeAdministration } from './administration.ts';

describeAdministration({ withServer: true });
