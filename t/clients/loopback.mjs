// Loaded before a server that listens everywhere: it does so on this machine
// alone.

import net from 'node:net';

const listen = net.Server.prototype.listen;

net.Server.prototype.listen = function (port, ...rest) {
  return typeof port === 'object'
    ? listen.call(this, port, ...rest)
    : listen.call(this, { port: Number(port), host: '127.0.0.1' }, ...rest);
};

// Nobody reads what it says of each request, and it would wait for that.
console.log = () => {};
