// A server with MCP's own SDK, of both eras, on stdio: what the conformance
// suite wants to find. With an argument, the names lack that prefix, which
// another server adds.

import { Server, ProtocolError } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHw'
  + 'AFBQIAX8jx0gAAAABJRU5ErkJggg==';
const wav = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=';
const text = text => ({ type: 'text', text });
const image = { type: 'image', data: png, mimeType: 'image/png' };
const resource = (uri, mimeType, text) =>
  ({ type: 'resource', resource: { uri, mimeType, text } });

const prefix = process.argv[2] ?? '';
const short = ([name, value]) => [name.slice(prefix.length), value];
const withShortNames = all => Object.fromEntries(Object.entries(all).map(short));

const tools = withShortNames({
  test_simple_text: [text('This is a simple text response for testing.')],
  test_image_content: [image],
  test_audio_content: [{ type: 'audio', data: wav, mimeType: 'audio/wav' }],
  test_embedded_resource: [resource('test://embedded-resource', 'text/plain',
    'This is an embedded resource content.')],
  test_multiple_content_types: [
    text('Multiple content types test:'),
    image,
    resource('test://mixed-content-resource', 'application/json',
      '{"test":"data","value":123}'),
  ],
  test_error_handling: [
    text('This tool intentionally returns an error for testing')],
  test_tool_with_progress: [text('done')],
});

const user = content => ({ role: 'user', content });
const argument = name => ({ name, description: name, required: true });
const prompts = withShortNames({
  test_simple_prompt: {
    get: () => [user(text('This is a simple prompt for testing.'))],
  },
  test_prompt_with_arguments: {
    arguments: [argument('arg1'), argument('arg2')],
    get: ({ arg1, arg2 }) => [user(text(
      `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
  },
  test_prompt_with_embedded_resource: {
    arguments: [argument('resourceUri')],
    get: ({ resourceUri }) => [
      user(resource(resourceUri, 'text/plain',
        'Embedded resource content for testing.')),
      user(text('Please process the embedded resource above.')),
    ],
  },
  test_prompt_with_image: {
    get: () => [user(image), user(text('Please analyze the image above.'))],
  },
});

const resources = {
  'test://static-text': {
    mimeType: 'text/plain',
    text: 'This is the content of the static text resource.',
  },
  'test://static-binary': { mimeType: 'image/png', blob: png },
  'test://watched-resource': { mimeType: 'text/plain', text: 'watched' },
};

function read(uri) {
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  return resources[uri] ?? (id === undefined ? undefined : {
    mimeType: 'application/json',
    text: JSON.stringify({
      id, templateTest: true, data: `Data for ID: ${id}`,
    }),
  });
}

const sleep = ms => new Promise(resolve => setTimeout(resolve, ms));

async function call(name, token, notify) {
  if (!tools[name]) {
    throw new ProtocolError(-32602, `Unknown tool: ${name}`);
  }
  const isSlow = name.endsWith('tool_with_progress') && token !== undefined;
  for (const progress of isSlow ? [0, 50, 100] : []) {
    await notify({
      method: 'notifications/progress',
      params: { progressToken: token, progress, total: 100 },
    });
    await sleep(100);
  }
  return { content: tools[name], isError: name.endsWith('error_handling') };
}

function create() {
  const server = new Server({ name: 'everything', version: '1' }, {
    capabilities: {
      tools: {}, prompts: {}, resources: { subscribe: true }, completions: {},
    },
  });
  server.setRequestHandler('tools/list', () => ({
    tools: Object.keys(tools).map(name =>
      ({ name, description: name, inputSchema: { type: 'object' } })),
  }));
  server.setRequestHandler('tools/call', ({ params }, context) =>
    call(params.name, params._meta?.progressToken,
      message => context.mcpReq.notify(message)));
  server.setRequestHandler('prompts/list', () => ({
    prompts: Object.entries(prompts).map(([name, prompt]) =>
      ({ name, description: name, arguments: prompt.arguments })),
  }));
  server.setRequestHandler('prompts/get', ({ params }) => {
    const prompt = prompts[params.name];
    if (!prompt) {
      throw new ProtocolError(-32602, `Unknown prompt: ${params.name}`);
    }
    return { messages: prompt.get(params.arguments ?? {}) };
  });
  server.setRequestHandler('resources/list', () => ({
    resources: Object.entries(resources).map(([uri, { mimeType }]) =>
      ({ uri, name: uri, mimeType })),
  }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [{
      uriTemplate: 'test://template/{id}/data', name: 'data',
      mimeType: 'application/json',
    }],
  }));
  server.setRequestHandler('resources/read', ({ params: { uri } }) => {
    const contents = read(uri);
    if (!contents) {
      throw new ProtocolError(-32602, 'Resource not found', { uri });
    }
    return { contents: [{ uri, ...contents }] };
  });
  server.setRequestHandler('resources/subscribe', () => ({}));
  server.setRequestHandler('resources/unsubscribe', () => ({}));
  server.setRequestHandler('completion/complete', () =>
    ({ completion: { values: ['test', 'testing'] } }));
  return server;
}

serveStdio(create);
