// A SharedWorker: one stream for all tabs of a board, because a browser opens only six connections to a server at once.
//
// A page joins with the number of the last change that it knows, and gets all later ones.

import { Stream } from "./stream.js";

const KEPT = 1000; // changes kept for pages that join later

const ports = new Set();
let recent = [];
let from = null; // `recent` has all changes after this one; null before the stream begins
let ready = null; // the server's last `ready` message
const stream = new Stream((type, detail) => {
  note(type, detail);
  for (const port of ports) port.postMessage({ type, detail });
});

function note(type, detail) {
  if (type === "lost") {
    recent = [];
    from = Infinity; // until the number of the newest is known
  } else if (type === "ready") {
    if (from === Infinity || detail.seq < from || detail.root !== (ready?.root ?? detail.root)) {
      recent = [];
      from = detail.seq;
    }
    ready = detail;
  } else if (type === "change") {
    recent.push(detail);
    if (recent.length > KEPT) from = recent.shift().seq;
  }
}

function join(port, since) {
  ports.add(port);
  const tell = (type, detail) => port.postMessage({ type, detail });
  tell("joined");
  if (from === null) {
    from = since;
    stream.start(since);
    return;
  }
  if (since < from) tell("lost");
  else for (const change of recent) if (change.seq > since) tell("change", change);
  tell("state", stream.state);
  if (stream.state === "live") tell("ready", { ...ready, seq: Math.max(ready.seq, recent.at(-1)?.seq ?? 0) });
}

const worker = /** @type {any} */ (self); // the scope of a shared worker
worker.onconnect = ({ ports: [port] }) => {
  port.onmessage = ({ data }) => {
    if (data.type === "join") join(port, data.since);
    else if (data.type === "leave") ports.delete(port);
    else if (data.type === "wake") stream.wake();
    else if (data.type === "check") stream.check();
  };
};
