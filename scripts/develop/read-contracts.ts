// A thread that reads all contracts for the page, and ends.
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { parentPort } from 'node:worker_threads';
import { contractForPage, contractPath } from '../contract-manifest.mjs';
import { root } from '../paths.mjs';

const contracts = new Map<string, string>();
for (const file of globSync('server/{contract,features/*/*-contract}.ts', { cwd: root })) {
  const id = join(root, file);
  const path = contractPath(id);
  const contract = await contractForPage(id);
  if (path !== undefined && contract !== null) contracts.set(path, contract);
}
parentPort?.postMessage(contracts);
