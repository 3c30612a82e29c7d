#!/usr/bin/env node
// The command line `license-desk` as a process.
import { refuseDebugger } from '#server/platform/refuse-debugger.ts';
import { processIo } from './command-io.ts';
import { runProgram } from './program.ts';

refuseDebugger();

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader, such as `head`, has closed the pipe.
  if (error.code !== 'EPIPE') throw error;
});

await runProgram(process.argv.slice(2), processIo);
