import type { SealedSecret } from '@backstop/contracts'
import { z } from 'zod'

/** Encrypts one secret of a channel. It can be decrypted only for the same channel and field. */
export type SealField = (secret: string, field: string) => { sealed: SealedSecret; fingerprint: string }

/** A URL of a channel. The guarded HTTP client decides which URLs are allowed. */
export const Url = z.string().min(1).max(2048)

/**
 * The four forms of a channel kind's configuration: in a request, in the database, in an answer, and after the channel
 * was deleted. Each kind defines them in its `form.ts`; `forms.ts` lists all kinds (docs/adding-a-channel.md).
 */
export interface ChannelForm<
  Kind extends string,
  Input extends z.ZodObject<{ kind: z.ZodLiteral<Kind> }>,
  Shown extends z.ZodObject<{ kind: z.ZodLiteral<Kind> }>,
  Patch extends z.ZodRawShape,
  Stored extends { kind: Kind },
> {
  /** The configuration in a request that creates a channel. Strict: unknown fields are refused. */
  readonly input: Input
  /** The configuration in answers. Secrets appear as fingerprints. */
  readonly shown: Shown
  /** The changeable fields, all optional. Kinds that share a field name must give it the same schema. */
  readonly patch: Patch
  /** The fields of the patch that are URLs; the guarded HTTP client checks them before they are stored. */
  readonly urls: readonly (keyof Patch & string)[]
  seal(input: z.output<Input>, seal: SealField): Stored
  change(stored: Stored, patch: Partial<z.output<z.ZodObject<Patch>>>, seal: SealField): Stored
  show(stored: Stored, nowMs: number): z.output<Shown>
  /** Removes all fields that are needed to send a message. */
  erase(stored: Stored): Stored
}

/** Returns the form unchanged; the call infers its type parameters. */
export function channelForm<
  Kind extends string,
  Input extends z.ZodObject<{ kind: z.ZodLiteral<Kind> }>,
  Shown extends z.ZodObject<{ kind: z.ZodLiteral<Kind> }>,
  Patch extends z.ZodRawShape,
  Stored extends { kind: Kind },
>(form: ChannelForm<Kind, Input, Shown, Patch, Stored>): ChannelForm<Kind, Input, Shown, Patch, Stored> {
  return form
}
