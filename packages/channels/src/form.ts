import type { SealedSecret } from '@backstop/contracts'
import { z } from 'zod'

/** Encrypts one secret of a channel. It can be decrypted only for the same channel and field. */
export type SealField = (secret: string, field: string) => { sealed: SealedSecret; fingerprint: string }

/** Encrypts a stored secret of a channel again. A fingerprint that the configuration shows changes with it. */
export type ResealField = (sealed: SealedSecret, field: string) => { sealed: SealedSecret; fingerprint: string }

/** A URL of a channel. The guarded HTTP client decides which URLs are allowed. */
export const Url = z.string().min(1).max(2048)

/** The changed URL of an incoming webhook, for every kind whose target is such a URL. */
export const WebhookUrlPatch = Url.optional().describe('slack, teams and discord; never shown again')

/**
 * The hosts of the service that a kind of channel sends to. Its messages contain the content of alerts and are not
 * signed, so they go to no other host, unless the operator allowed it with CHANNEL_ALLOW_HOSTS.
 */
export interface ServiceHosts {
  /** `hooks.example.com`, or `*.example.com` for any host below example.com. */
  readonly names: readonly string[]
  /** The instruction in the refusal of another host. */
  readonly remedy: string
}

export function isServiceHost({ names }: ServiceHosts, hostname: string): boolean {
  return names.some(name => (name.startsWith('*.') ? hostname.endsWith(name.slice(1)) : hostname === name))
}

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
  /** The fields that are URLs; the guarded HTTP client checks them before they are stored. */
  readonly urls: readonly (keyof z.output<Input> & string)[]
  /** The fields of the patch that select the receiver. A change of one resets the failures of the channel. */
  readonly target: readonly (keyof Patch & string)[]
  /** Absent for a kind that sends to any public host. */
  readonly hosts?: ServiceHosts
  seal(input: z.output<Input>, seal: SealField): Stored
  change(stored: Stored, patch: Partial<z.output<z.ZodObject<Patch>>>, seal: SealField): Stored
  /** Encrypts every secret of the configuration again. */
  reseal(stored: Stored, reseal: ResealField): Stored
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
