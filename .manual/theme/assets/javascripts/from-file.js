// SPDX-License-Identifier: GPL-2.0-or-later

// The search of a manual that is opened from a file: a browser then starts no worker, so the worker's script runs in a hidden frame
// of the page. search_index.js has the index, because such a page cannot request it either.
class FrameWorker extends EventTarget {
  constructor(address) {
    super();
    const frame = document.createElement("iframe");
    frame.hidden = true;
    document.body.append(frame);
    const inner = frame.contentWindow;
    inner.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }));
    this.started = new Promise((resolve, reject) => {
      const script = inner.document.createElement("script");
      script.src = address;
      script.onload = () => resolve(inner);
      script.onerror = reject;
      inner.document.body.append(script);
    });
  }

  postMessage(data) {
    this.started.then(inner => inner.dispatchEvent(new MessageEvent("message", { data })));
  }
}

if (location.protocol === "file:") window.Worker = FrameWorker;
