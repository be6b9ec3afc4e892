// What both clients have in common: the test writes commands to stdin, one
// JSON object a line, and reads events from stdout, likewise.

import readline from 'node:readline';

export function say(event, more) {
  process.stdout.write(JSON.stringify({ event, ...more }) + '\n');
}

// Where the bridge is, and what it needs from the environment: a client of
// the SDK passes on nothing but a few variables by itself.
export function server() {
  const [command, ...args] = process.argv.slice(2);
  return { command, args, env: process.env, stderr: 'inherit' };
}

export function onChanged(error, tools) {
  say('changed', { error: error?.message, tools: tools?.map(t => t.name) });
}

// call(params, options) resolves to the tool's result.
export async function drive(client, call) {
  const running = new Map();
  client.onerror = e => say('oops', { message: e.message });
  client.onclose = () => say('closed');
  client.fallbackNotificationHandler = async told => say('told', { told });

  async function act(c) {
    switch (c.do) {
      case 'list':
        return say('tools', await client.listTools());
      case 'resources':
        return say('resources', await client.listResources());
      case 'read':
        return say('result',
          { id: c.id, result: await client.readResource({ uri: c.uri }) });
      case 'call': {
        const abort = new AbortController();
        running.set(c.id, abort);
        const result = await call(
          {
            name: c.name,
            arguments: c.fill ? { text: 'x'.repeat(c.fill) }
              : c.arguments ?? {},
          },
          {
            signal: abort.signal,
            timeout: 60000,
            onprogress: c.progress
              ? progress => say('progress', { id: c.id, progress })
              : undefined,
          });
        return say('result', { id: c.id, result });
      }
      case 'cancel':
        return running.get(c.id).abort('enough');
      default:
        throw new Error(`no such command: ${c.do}`);
    }
  }

  for await (const line of readline.createInterface({ input: process.stdin })) {
    const command = JSON.parse(line);
    act(command).catch(e =>
      say('error', { id: command.id, code: e.code, message: e.message }));
  }
  await client.close();
}
