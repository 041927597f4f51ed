import { createLoop, createRuntime, type Loop, type PendingBatch } from 'offstage';
import { type Message, model } from './model.ts';
import { tools } from './tools.ts';

/**
 * An agent loop without a framework. The model is a script (model.ts), all else is what a real loop
 * needs: a transcript, turns, answers, and what happened off stage meanwhile.
 */
const transcript: Message[] = [];

function add(message: Message): void {
  transcript.push(message);
  process.stdout.write(`${lineOf(message)}\n`);
}

function lineOf(message: Message): string {
  if (message.role === 'tool') {
    const { call, tool, result } = message.answer;
    return `tool       ${call} ${tool}: ${JSON.stringify(result)}`;
  }
  return `${message.role.padEnd(10)} ${message.text}`;
}

/** All that has happened becomes one message, however much it is. */
async function hear(batch: PendingBatch): Promise<void> {
  if (batch.updates.length > 0) add({ role: 'user', text: batch.text });
  // Only now: what is not in the transcript for good is given again.
  await batch.acknowledge();
}

async function converse(loop: Loop): Promise<void> {
  while (true) {
    await hear(await loop.takePending());
    const { text, calls } = await model(transcript, loop.definitions());
    add({ role: 'assistant', text, calls });
    if (calls.length > 0) {
      const turn = loop.beginTurn();
      for (const answer of await turn.run(calls)) add({ role: 'tool', answer });
      await turn.end();
      continue;
    }
    // The model has said all it has to say. It goes on if something off stage still has.
    const batch = await loop.whenPending();
    if (batch === null) return;
    await hear(batch);
  }
}

const runtime = await createRuntime();
const loop = createLoop(runtime.supervisor('agent-loop'), { tools });
add({ role: 'user', text: 'Check the links of both sites, and count the words of the README.' });
await converse(loop);
process.stdout.write(`the loop is ${await loop.state()}\n`);
await runtime.close();
