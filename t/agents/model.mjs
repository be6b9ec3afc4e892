// A model without a network, for agents: Anthropic's Messages API and OpenAI's
// Responses API. The test writes to stdin which tools the model calls, one JSON
// object a line: { when, call, arguments, namespace } calls the tool once, when
// a request contains that text. All other answers are `done`. Each request is
// printed as a line of JSON. The first line is the URL.

import http from 'node:http';
import readline from 'node:readline';

const calls = [];
let ncalls = 0;

// Agents also ask for titles and the like, before and after.
function takeCall(text) {
  const i = calls.findIndex(call => text.includes(call.when));
  return i < 0 ? undefined : calls.splice(i, 1)[0];
}

function start(res) {
  res.writeHead(200, { 'Content-Type': 'text/event-stream' });
  return (type, more) => res.write(
    `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`);
}

function messages(res, body, call) {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const block = call
    ? { type: 'tool_use', id: `toolu_${call.id}`, name: call.call, input: {} }
    : { type: 'text', text: '' };
  const delta = call
    ? { type: 'input_json_delta',
        partial_json: JSON.stringify(call.arguments) }
    : { type: 'text_delta', text: 'done' };
  const send = start(res);
  send('message_start', { message: {
    id: 'msg_1', type: 'message', role: 'assistant', model: body.model,
    content: [], stop_reason: null, stop_sequence: null, usage,
  } });
  send('content_block_start', { index: 0, content_block: block });
  send('content_block_delta', { index: 0, delta });
  send('content_block_stop', { index: 0 });
  send('message_delta', { usage, delta: {
    stop_reason: call ? 'tool_use' : 'end_turn', stop_sequence: null,
  } });
  send('message_stop', {});
}

function responses(res, call) {
  const item = call
    ? { type: 'function_call', id: `fc_${call.id}`, call_id: `call_${call.id}`,
        status: 'completed', name: call.call, namespace: call.namespace,
        arguments: JSON.stringify(call.arguments) }
    : { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed',
        content: [{ type: 'output_text', text: 'done', annotations: [] }] };
  const send = start(res);
  send('response.created', { response: { id: 'resp_1' } });
  send('response.output_item.done', { output_index: 0, item });
  send('response.completed', { response: {
    id: 'resp_1', output: [item],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  } });
}

http.createServer((req, res) => {
  let text = '';
  req.setEncoding('utf8');
  req.on('data', data => text += data);
  req.on('end', () => {
    const path = req.url.replace(/\?.*/, '');
    if (req.method !== 'POST'
        || !/^\/v1\/(messages|responses)$/.test(path)) {
      res.writeHead(404, { 'Content-Type': 'application/json' });
      return res.end('{}');
    }
    const body = JSON.parse(text);
    process.stdout.write(JSON.stringify(body) + '\n');
    if (path === '/v1/messages') {
      messages(res, body, takeCall(text));
    } else {
      responses(res, takeCall(text));
    }
    res.end();
  });
}).listen(0, '127.0.0.1', function () {
  process.stdout.write(`http://127.0.0.1:${this.address().port}\n`);
});

for await (const line of readline.createInterface({ input: process.stdin })) {
  calls.push({ id: ++ncalls, ...JSON.parse(line) });
}
process.exit();
