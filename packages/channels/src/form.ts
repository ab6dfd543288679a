import type { SealedSecret } from '@backstop/contracts'
import { z } from 'zod'

/** Seals what is secret about one channel. What is sealed opens in its own channel and field only. */
export type SealPart = (secret: string, field: string) => { sealed: SealedSecret; fingerprint: string }

/** A URL of a channel. The guarded client decides which ones are allowed. */
export const Url = z.string().min(1).max(2048)

/**
 * The config of one kind of channel: how people give it, how it is stored, how it is shown and what is left of it when the
 * channel is deleted. Each kind has a file with its form, and `index.ts` lists them all (docs/adding-a-channel.md).
 */
export interface ChannelForm<
  Kind extends string,
  Given extends z.ZodObject<{ kind: z.ZodLiteral<Kind> }>,
  Shown extends z.ZodObject<{ kind: z.ZodLiteral<Kind> }>,
  Parts extends z.ZodRawShape,
  Stored extends { kind: Kind },
> {
  /** As people give it. Strict: what is not named is refused. */
  readonly given: Given
  /** As it is shown: secrets by their fingerprints. */
  readonly shown: Shown
  /** The parts that change in place, each optional. A part of the same name in two kinds has the same shape in both. */
  readonly parts: Parts
  /** Those of the parts that are URLs: the guarded client says whether they may be stored. */
  readonly urls: readonly (keyof Parts & string)[]
  seal(given: z.output<Given>, seal: SealPart): Stored
  /** The config with those parts changed that the patch names. */
  change(stored: Stored, patch: Partial<z.output<z.ZodObject<Parts>>>, seal: SealPart): Stored
  show(stored: Stored, nowMs: number): z.output<Shown>
  /** Without anything that a message could be sent with. */
  erase(stored: Stored): Stored
}

/** Says that a form is one, and infers what it is made of. */
export function channelForm<
  Kind extends string,
  Given extends z.ZodObject<{ kind: z.ZodLiteral<Kind> }>,
  Shown extends z.ZodObject<{ kind: z.ZodLiteral<Kind> }>,
  Parts extends z.ZodRawShape,
  Stored extends { kind: Kind },
>(form: ChannelForm<Kind, Given, Shown, Parts, Stored>): ChannelForm<Kind, Given, Shown, Parts, Stored> {
  return form
}
