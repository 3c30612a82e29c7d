// A server that says something and dies.
process.stderr.write('{"level":"fatal","msg":"no paper"}\nerror: out of paper\n', () => process.exit(1));
