// The SDK's modern client: probes with server/discover, then every request
// carries its version; changes come on a subscription.

import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { drive, onChanged, say, server } from './driver.mjs';

const client = new Client({ name: 'modern', version: '1.0.0' }, {
  versionNegotiation: { mode: 'auto', probe: { timeoutMs: 3000 } },
  listChanged: { tools: { debounceMs: 0, onChanged } },
});
const transport = new StdioClientTransport(server());
await client.connect(transport);
say('ready', {
  era: client.getProtocolEra(),
  server: client.getServerVersion(),
  instructions: client.getInstructions(),
  honored: client.autoOpenedSubscription?.honoredFilter,
  pid: transport.pid,
});
await drive(client, (params, options) => client.callTool(params, options));
