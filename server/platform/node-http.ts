// Node's HTTP module without an `import`, which would evaluate all its exports. One of them loads `fetch`, and a CLI
// command would take half as long again.
export const { createServer, request, STATUS_CODES } = process.getBuiltinModule('node:http');
