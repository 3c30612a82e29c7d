// The shell's texts, in the same two languages as the page.
import { app } from 'electron';
import { de } from './texts-de.ts';
import { en, type Texts } from './texts-en.ts';

/** Follows the system language. Before the app is ready, English. */
export const texts = (): Texts => (app.getLocale().startsWith('de') ? de : en);
