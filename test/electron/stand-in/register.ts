// Loaded before the built shell: whoever asks for Electron gets the stand-in.
import { registerHooks } from 'node:module';

const standIn = import.meta.resolve('./electron.ts');

registerHooks({
  resolve: (specifier, context, nextResolve) =>
    specifier === 'electron' ? { url: standIn, shortCircuit: true } : nextResolve(specifier, context),
});
