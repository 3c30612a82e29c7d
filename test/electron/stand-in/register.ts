// Loaded before the built shell: whoever asks for Electron gets the stand-in.
import { registerHooks } from 'node:module';
import { report } from './happenings.ts';

const standIn = import.meta.resolve('./electron.ts');

registerHooks({
  resolve: (specifier, context, nextResolve) =>
    specifier === 'electron' ? { url: standIn, shortCircuit: true } : nextResolve(specifier, context),
});

// All that is loaded from here on is the shell's, and what it asks of Electron.
await import('./electron.ts');
await (
  await import('./pages.ts')
).browser;
report({ event: 'registered', at: performance.timeOrigin + performance.now() });
