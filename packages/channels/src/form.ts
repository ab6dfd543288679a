import type { SealedSecret } from '@backstop/contracts'
import { z } from 'zod'

/** Seals one secret of a channel. It can be opened only for the same channel and field. */
export type SealField = (secret: string, field: string) => { sealed: SealedSecret; fingerprint: string }

/** A URL of a channel. The guarded client decides which ones are allowed. */
export const Url = z.string().min(1).max(2048)

/**
 * The config of one kind of channel in its four states: as a request gives it, as it is stored, as an answer shows it, and
 * after the channel was deleted. Each kind has it in its `form.ts`; `forms.ts` lists them all (docs/adding-a-channel.md).
 */
export interface ChannelForm<
  Kind extends string,
  Input extends z.ZodObject<{ kind: z.ZodLiteral<Kind> }>,
  Shown extends z.ZodObject<{ kind: z.ZodLiteral<Kind> }>,
  Patch extends z.ZodRawShape,
  Stored extends { kind: Kind },
> {
  /** What creates a channel. Strict: an unknown field is refused. */
  readonly input: Input
  /** What answers show: of a secret its fingerprint. */
  readonly shown: Shown
  /** The fields that can be changed, each optional. Two kinds that share a field name give it the same schema. */
  readonly patch: Patch
  /** The fields of the patch that are URLs: the guarded client decides whether they may be stored. */
  readonly urls: readonly (keyof Patch & string)[]
  seal(input: z.output<Input>, seal: SealField): Stored
  change(stored: Stored, patch: Partial<z.output<z.ZodObject<Patch>>>, seal: SealField): Stored
  show(stored: Stored, nowMs: number): z.output<Shown>
  /** Removes everything that a message could be sent with. */
  erase(stored: Stored): Stored
}

/** Returns the form unchanged: the call infers its type parameters. */
export function channelForm<
  Kind extends string,
  Input extends z.ZodObject<{ kind: z.ZodLiteral<Kind> }>,
  Shown extends z.ZodObject<{ kind: z.ZodLiteral<Kind> }>,
  Patch extends z.ZodRawShape,
  Stored extends { kind: Kind },
>(form: ChannelForm<Kind, Input, Shown, Patch, Stored>): ChannelForm<Kind, Input, Shown, Patch, Stored> {
  return form
}
