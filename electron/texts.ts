// What the shell itself says, in the two languages of the page.
import { app } from 'electron';
import { de } from './texts-de.ts';
import { en, type Texts } from './texts-en.ts';

/** In the language of the system. Before the app is ready, English. */
export const texts = (): Texts => (app.getLocale().startsWith('de') ? de : en);
