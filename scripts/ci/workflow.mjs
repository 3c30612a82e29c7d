/** Reads the workflows in .github/workflows as plain objects. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { root } from '../paths.mjs';

/**
 * @typedef {object} Step
 * @property {string} [id]
 * @property {string} [name]
 * @property {string} [uses]
 * @property {string} [run]
 * @property {string} [shell]
 * @property {unknown} [if]
 * @property {Record<string, string>} [env]
 * @property {Record<string, string>} [with]
 *
 * @typedef {object} Job
 * @property {string} [uses]
 * @property {string} [runs-on]
 * @property {unknown} [if]
 * @property {Record<string, string>} [permissions]
 * @property {Record<string, string>} [env]
 * @property {number} [timeout-minutes]
 * @property {{ image: string }} [container]
 * @property {{ matrix: { include: Record<string, string>[] } }} [strategy]
 * @property {Record<string, string> | 'inherit'} [secrets]
 * @property {Step[]} [steps]
 *
 * @typedef {object} Workflow
 * @property {Record<string, any>} on
 * @property {Record<string, string>} [permissions]
 * @property {{ group: string }} [concurrency]
 * @property {{ run: { shell: string } }} [defaults]
 * @property {Record<string, string>} [env]
 * @property {Record<string, Job>} jobs
 */

const FOLDER = join(root, '.github', 'workflows');

/** @returns {string[]} without `.yml` */
export const workflowNames = () =>
  readdirSync(FOLDER)
    .filter((file) => file.endsWith('.yml'))
    .map((file) => file.slice(0, -'.yml'.length));

/** @param {string} name */
export const readWorkflowText = (name) => readFileSync(join(FOLDER, `${name}.yml`), 'utf8');

/**
 * @param {string} name
 * @returns {Workflow}
 */
export const readWorkflow = (name) => parse(readWorkflowText(name));

/**
 * @param {Job} job
 * @returns {Record<string, string>[]} the matrix, with one empty row where there is none
 */
export const matrixRows = (job) => job.strategy?.matrix.include ?? [{}];
