// Loaded before the built shell: whoever asks for Electron gets the stand-in.
import { registerHooks } from 'node:module';

const standIn = new URL('electron-stand-in.ts', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, nextResolve) =>
    specifier === 'electron' ? { url: standIn, shortCircuit: true } : nextResolve(specifier, context),
});
