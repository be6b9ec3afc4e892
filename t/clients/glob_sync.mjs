// Loaded before the conformance suite: lets it start with Node.js 20, which has
// no globSync. The suite's tests of servers do not use it.

import { register } from 'node:module';

const asUrl = text => 'data:text/javascript,' + encodeURIComponent(text);
const fs = asUrl(`
export * from 'node:fs';
export function globSync() { throw new Error('globSync needs Node.js 22'); }
`);
register(asUrl(`
export async function resolve(name, context, next) {
  return name === 'fs' && context.parentURL?.includes('/conformance/dist/')
    ? { url: ${JSON.stringify(fs)}, shortCircuit: true }
    : next(name, context);
}
`));
