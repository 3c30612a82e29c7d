// Node's HTTP module without an `import` of it: that looks at all it exports, and one of the things it exports loads the
// whole of `fetch`, which takes a command of the CLI half as long again as its work.
export const { createServer, request, STATUS_CODES } = process.getBuiltinModule('node:http');
