/**
 * The page behind the inspector's address: the viewer of stately.ai in a frame. It connects whenever
 * the viewer says that it is ready, and the relay then tells it all there is, so the page keeps nothing.
 */
export const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Offstage in the Stately inspector</title>
<style>html, body, iframe { margin: 0; width: 100%; height: 100%; border: 0; display: block }</style>
<iframe title="Stately inspector"></iframe>
<script>
const frame = document.querySelector('iframe');
let socket;
addEventListener('message', ({ data, source, origin }) => {
  if (source !== frame.contentWindow || data?.type !== '@statelyai.connected') return;
  if (socket) {
    socket.onmessage = null;
    socket.close();
  }
  socket = new WebSocket('ws://' + location.host);
  socket.onmessage = (message) => source.postMessage(JSON.parse(message.data), origin);
});
frame.src = 'https://stately.ai/inspect';
</script>
</html>
`;
