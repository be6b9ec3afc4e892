// Connects a client of the SDK, legacy or modern, says what came of it, and
// lists the tools. Arguments: the era, then the server's command.

import { Client as Legacy } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as LegacyTransport }
  from '@modelcontextprotocol/sdk/client/stdio.js';
import { Client as Modern } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernTransport }
  from '@modelcontextprotocol/client/stdio';

const [era, command, ...args] = process.argv.slice(2);
const server = { command, args, env: process.env, stderr: 'inherit' };
const client = era === 'legacy'
  ? new Legacy({ name: era, version: '1' })
  : new Modern({ name: era, version: '1' },
      { versionNegotiation: { mode: 'auto', probe: { timeoutMs: 3000 } } });
const transport = era === 'legacy' ? new LegacyTransport(server)
  : new ModernTransport(server);

function say(event, more) {
  process.stdout.write(JSON.stringify({ event, ...more }) + '\n');
}

try {
  await client.connect(transport);
  say('connected');
  const { tools } = await client.listTools();
  say('tools', { tools: tools.map(t => t.name) });
} catch (e) {
  say('failed', { message: e.message });
}
await client.close();
