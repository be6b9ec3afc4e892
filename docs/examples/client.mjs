// A client for Node.js without dependencies, for the socket of NGINX or of a
// program with libtoolgate.
//
//     import { connect } from './client.mjs';
//
//     const client = await connect('/run/toolgate/tools.sock');
//     console.log(await client.tools());
//     console.log(await client.call('word_count', { text: 'one two' }));
//     client.close();
//
// On the command line:  node client.mjs SOCKET [TOOL [ARGUMENTS]]

import net from 'node:net';
import { pathToFileURL } from 'node:url';

// A JSON-RPC error: message, code, and optional data.
export class RpcError extends Error {
  constructor({ code, message, data }) {
    super(message);
    Object.assign(this, { code, data });
  }
}

// Resolves to a client when the connection is open.
export function connect(path) {
  return new Promise((resolve, reject) => {
    const socket = net.connect(path);
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(new Client(socket));
    });
  });
}

export class Client {
  #socket;
  #waiting = new Map();
  #last = 0;

  // Called with each notification that is not about a call of this client.
  onNotification = () => {};

  constructor(socket) {
    this.#socket = socket;
    let parts = [];
    socket.setEncoding('utf8');
    socket.on('data', text => {
      parts.push(text);
      if (!text.includes('\n')) return;
      const lines = parts.join('').split('\n');
      parts = [lines.pop()];
      for (const line of lines) if (line) this.#take(JSON.parse(line));
    });
    socket.on('error', error => this.#end(error));
    socket.on('close', () => this.#end(new Error('the connection was lost')));
  }

  // Calls a method.  Options: signal (an AbortSignal), onProgress.
  request(method, params = {}, { signal, onProgress } = {}) {
    const id = ++this.#last;
    if (onProgress) params = { ...params, _meta: { progressToken: id } };
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const cancel = () => {
        this.#waiting.delete(id);
        this.notify('notifications/cancelled', { requestId: id });
        reject(signal.reason);
      };
      signal?.addEventListener('abort', cancel, { once: true });
      this.#waiting.set(id, {
        resolve, reject, onProgress,
        done: () => signal?.removeEventListener('abort', cancel),
      });
      this.#send({ id, method, params });
    });
  }

  notify(method, params = {}) {
    this.#send({ method, params });
  }

  // Resolves to all tools, of all pages.
  async tools() {
    const all = [];
    let cursor;
    do {
      const page = await this.request('tools/list', cursor ? { cursor } : {});
      all.push(...page.tools);
      cursor = page.nextCursor;
    } while (cursor);
    return all;
  }

  // Resolves to an MCP result: content, isError, optional structuredContent.
  call(name, args = {}, options = {}) {
    return this.request('tools/call', { name, arguments: args }, options);
  }

  // Sends what is buffered, and rejects open calls.
  close() {
    this.#socket.destroySoon();
  }

  #send(message) {
    this.#socket.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');
  }

  #take({ id, method, params, result, error }) {
    if (method === 'notifications/progress') {
      return this.#waiting.get(params.progressToken)?.onProgress?.(params);
    }
    if (method) return this.onNotification(method, params);
    const call = this.#waiting.get(id);
    if (!call) return; // cancelled before
    this.#waiting.delete(id);
    call.done();
    error ? call.reject(new RpcError(error)) : call.resolve(result);
  }

  #end(error) {
    for (const call of this.#waiting.values()) {
      call.done();
      call.reject(error);
    }
    this.#waiting.clear();
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [path, tool, args] = process.argv.slice(2);
  const client = await connect(path);
  const answer = tool
    ? await client.call(tool, JSON.parse(args ?? '{}'))
    : await client.tools();
  console.log(JSON.stringify(answer, null, 2));
  client.close();
}
