// Recognizes a directory that an installation uses, so that nothing sets up a second, empty one instead.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { configFilePath, readConfigFile, refuseUnknown } from '#server/platform/config.ts';
import { MASTER_KEY_FILE, SEALED_KEY_FILE } from '#server/platform/master-key.ts';
import { databaseFile } from './database-location.ts';
import { quoted } from './open-command.ts';

/** Written at the end of a first start. Installations of earlier versions lack it. */
export const markerFile = (dataDir: string): string => join(dataDir, 'installation.json');

/** Programs of all kinds have a `config.json`. */
function hasSettings(dataDir: string): boolean {
  try {
    const file = readConfigFile(dataDir);
    refuseUnknown(file);
    return Object.keys(file).length > 0;
  } catch {
    return false;
  }
}

/** Whether the directory has keys, a database or settings of an installation. */
export function isUsed(dataDir: string): boolean {
  const keys = [MASTER_KEY_FILE, SEALED_KEY_FILE].map((name) => join(dataDir, name));
  return (
    [...keys, markerFile(dataDir), databaseFile(dataDir)].some((path) => existsSync(path)) ||
    hasSettings(dataDir)
  );
}

/** The same for the directory of the app, where settings that cannot be read are then reported. */
export const isUsedByApp = (dataDir: string): boolean =>
  isUsed(dataDir) || existsSync(configFilePath(dataDir));

/**
 * Whether the directory would be created below an installation, as when a container keeps its data in a directory of its
 * volume from now on. The new one would be empty.
 * @returns the reason and the remedy; null if it may be created
 */
export function problemOfParent(dataDir: string): string | null {
  const parent = dirname(dataDir);
  if (existsSync(dataDir) || !isUsed(parent)) return null;
  return `${parent} has an installation, and ${dataDir} would be a new one; use --data-dir ${quoted(parent)}, or move all files from there to ${dataDir}`;
}
