// What docs/examples/client.mjs does, told as lines of TAP.
//
//     node socket.mjs CLIENT SOCKET PIDFILE

import assert from 'node:assert/strict';
import fs from 'node:fs';
import timers from 'node:timers/promises';

const [module, path, pidFile] = process.argv.slice(2);
const { connect, RpcError } = await import(module);

async function check(name, run) {
  try {
    await run();
    console.log(`ok - ${name}`);
  } catch (error) {
    console.log(`not ok - ${name}\n# ${error.stack.replaceAll('\n', ' ')}`);
  }
}

// Waits for what has no event.
async function until(look) {
  while (!look()) await timers.setTimeout(10);
}

const client = await connect(path);
const text = result => result.content[0].text;

await check('all pages of tools', async () =>
  assert.equal((await client.tools()).length, 44));

await check('a call', async () =>
  assert.equal(text(await client.call('echo', { text: 'hä\nhi' })), 'hä\nhi'));

await check('a large one', async () => {
  const large = 'ä'.repeat(4_000_000);
  assert.equal(text(await client.call('echo', { text: large })), large);
});

await check('a thousand at once', async () => {
  const all = await Promise.all(Array.from({ length: 1000 }, (_, i) =>
    client.call('echo', { text: `${i}` })));
  assert.deepEqual(all.map(text), all.map((_, i) => `${i}`));
});

await check('a tool that fails is a result', async () => {
  const result = await client.call('fail');
  assert.equal(result.isError, true);
  assert.match(text(result), /no\/such\/file/);
});

await check('a tool that there is not is an error', () =>
  assert.rejects(client.call('nosuch'), error =>
    error instanceof RpcError && error.code === -32602));

await check('progress', async () => {
  const seen = [];
  const result = await client.call('steps', {},
    { onProgress: progress => seen.push(progress.message) });
  assert.deepEqual([text(result).trim(), seen], ['done', ['one']]);
});

await check('a call that is cancelled ends its program', async () => {
  const abort = new AbortController();
  const call = client.call('sleep', {}, { signal: abort.signal });
  await until(() => fs.existsSync(pidFile)
    && fs.readFileSync(pidFile, 'utf8').endsWith('\n'));
  const pid = Number(fs.readFileSync(pidFile, 'utf8'));
  abort.abort();
  await assert.rejects(call, { name: 'AbortError' });
  await until(() => !fs.existsSync(`/proc/${pid}`));
});

await check('one that was cancelled before is not sent', () =>
  assert.rejects(client.call('echo', {}, { signal: AbortSignal.abort() }),
    { name: 'AbortError' }));

await check('a notification', async () => {
  const told = new Promise(resolve => {
    client.onNotification = (method, params) => resolve({ method, params });
  });
  await client.request('say', { n: 1 });
  assert.deepEqual(await told, { method: 'news', params: { n: 1 } });
});

await check('the end of a connection ends its calls', async () => {
  const other = await connect(path);
  const call = other.call('sleep');
  other.close();
  await assert.rejects(call, /the connection was lost/);
});

await check('nobody there', () =>
  assert.rejects(connect(`${path}.none`), { code: 'ENOENT' }));

client.close();
