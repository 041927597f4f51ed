/** Whose words they are. */
export type Voice = 'you' | 'agent' | 'thought' | 'call' | 'notice' | 'demo';

/** What the audience sees: the conversation, and the tasks off stage. */
export interface Stage {
  tell(voice: Voice, text: string): void;
  /** Shows how everything ended and lets go of the terminal. */
  end(): void;
}
