#!/usr/bin/env node
// The command line `license-desk` as a process.
import { refuseDebugger } from '#server/platform/refuse-debugger.ts';
import { processIo } from './command-io.ts';
import { runProgram } from './program.ts';

refuseDebugger();

// Without a listener, output that cannot be written would end the process. The call that writes reports it.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

await runProgram(process.argv.slice(2), processIo);
