/**
 * Schemas for the fields of provider objects, which providers change at any time. Fields that decide a verdict are strict, so
 * that people see an unexpected object as a dead letter. An optional field with an unexpected value is treated as absent, so that
 * it does not hide a refund.
 */
import { type ObjectState, objectIdentity, objectReference, ProviderId, type ProviderKind } from '@backstop/contracts'
import { z } from 'zod'
import type { Normalised, SightingFields } from './sighting.ts'

/** The result of normalising an object. An object never gives a hint. */
export type Meaning = Exclude<Normalised, { kind: 'hint' }>

/** The inputs of normalisation besides the object. */
export interface SightingContext {
  readonly projectId: string
  /** The provider's site, if ids are unique only within a site; otherwise null. */
  readonly site: string | null
  /** The time of its event or of the read, in milliseconds since the epoch; null if unknown. */
  readonly shownAt: number | null
}

/** Normalises objects of one type. */
export type ObjectMeaning<T extends SightingContext = SightingContext> = (
  context: T,
  object: Readonly<Record<string, unknown>>,
) => Meaning

/** An id, or the whole object with that id if the account expands it. */
export const Id = z.union([ProviderId, z.object({ id: ProviderId }).transform(object => object.id)])

/** Seconds since the epoch, converted to milliseconds. Numbers after the year 9999 are refused, because they are milliseconds. */
export const UnixTime = z
  .int()
  .min(0)
  .max(253_402_300_799)
  .transform(seconds => seconds * 1000)

/** A time in RFC 3339, converted to milliseconds since the epoch. */
export const TextTime = z.iso.datetime({ offset: true }).transform(text => Date.parse(text))

/** A currency code of ISO 4217 in any case, converted to lower case. */
export const CurrencyCode = z
  .string()
  .regex(/^[A-Za-z]{3}$/)
  .transform(code => code.toLowerCase())

/** An amount in minor units, which are whole units for a currency without decimals. */
export const MinorUnits = z.int().min(0)

/** An optional field. Null if it is absent or has an unexpected value. */
export function helpful<Output>(schema: z.ZodType<Output>) {
  return schema.nullable().catch(null).default(null)
}

/**
 * A text that is not empty. A pattern and not `min`, because zod compares the `length` of any value, and throws for an object whose `length` is
 * an object without a text.
 */
export const Text = z.string().regex(/./s, 'It is empty')

/** A field that only people read. It may have any value, because its reader checks it (details.ts). */
export const Detail = z.unknown().optional()

/** The state of an object by the provider's status. A status that is not listed is pending, so that a known state replaces it. */
export function stateIn(states: Readonly<Record<string, ObjectState>>, status: string | null): ObjectState {
  return (status !== null && Object.hasOwn(states, status) ? states[status] : undefined) ?? 'pending'
}

/** Parses an object by its schema. An object that does not match is malformed, with the place of the mismatch. */
export function reading<Output>(
  type: string,
  schema: z.ZodType<Output>,
  object: unknown,
  then: (parsed: Output) => Meaning,
): Meaning {
  const parsed = schema.safeParse(object)
  if (parsed.success) return then(parsed.data)
  const issue = parsed.error.issues[0]
  return { kind: 'malformed', reason: `${[type, ...(issue?.path ?? [])].join('.')}: ${issue?.message ?? 'not valid'}` }
}

/**
 * The identity and references of an object, made of project, provider and id. They contain neither account nor mode, because ids
 * are unique across both, and because a refund has one identity in all connections.
 * @param belongsTo ids of the payment or subscription. The first id is shown to people. Empty values are skipped.
 */
export function nameObject(
  context: SightingContext,
  provider: ProviderKind,
  type: string,
  id: string,
  belongsTo: readonly (string | null | undefined)[],
): SightingFields {
  const objectIds = [...new Set(belongsTo.filter(other => typeof other === 'string'))]
  const site = context.site ?? undefined
  return {
    provider,
    identity: objectIdentity(context.projectId, provider, site, type, id),
    refs: [...new Set([...objectIds, id])].map(name => objectReference(context.projectId, provider, site, name)),
    objectIds,
    subject: objectIds[0] ?? id,
  }
}
