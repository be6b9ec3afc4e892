// The SDK's legacy client: initialize first, revision 2025-11-25.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport }
  from '@modelcontextprotocol/sdk/client/stdio.js';
import { drive, onChanged, say, server } from './driver.mjs';

const client = new Client({ name: 'legacy', version: '1.0.0' }, {
  listChanged: { tools: { debounceMs: 0, onChanged } },
});
const transport = new StdioClientTransport(server());
await client.connect(transport);
say('ready', {
  era: 'legacy',
  server: client.getServerVersion(),
  instructions: client.getInstructions(),
  pid: transport.pid,
});
await drive(client,
  (params, options) => client.callTool(params, undefined, options));
