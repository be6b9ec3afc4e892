// An MCP Apps server (extension io.modelcontextprotocol/ui): a tool, and the
// page that shows its result, with characters that are easily changed.

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport }
  from '@modelcontextprotocol/sdk/server/stdio.js';

const server = new McpServer({ name: 'apps', version: '1.0.0' });
const page = 'ui://clock/view.html';
const type = 'text/html;profile=mcp-app';
const odd = '<script>"\\u0041" </script>\u2028\u2029\u00e9\u{1f552}\ufeff'
  + '\u0000\u007f\t&amp;/\\';
const html = '<!doctype html>\r\n' + odd.repeat(2000) + '\n\n';
const meta = { ui: {
  csp: { connectDomains: ['https://example.com'], resourceDomains: [] },
  prefersBorder: true, domain: null,
} };

server.registerTool('clock', {
  description: 'Shows a clock.',
  _meta: { ui: { resourceUri: page, visibility: ['model', 'app'] },
           'ui/resourceUri': page },
}, () => ({ content: [{ type: 'text', text: 'noon' }] }));
server.registerResource('clock', page, { mimeType: type, _meta: meta }, uri => ({
  contents: [{ uri: uri.href, mimeType: type, text: html, _meta: meta }],
}));
server.registerResource('image', 'ui://clock/face.bin', {}, uri => ({
  contents: [{
    uri: uri.href, mimeType: type,
    blob: Buffer.from(Array.from({ length: 100000 }, (_, i) => i * i % 256))
      .toString('base64'),
  }],
}));
await server.connect(new StdioServerTransport());
