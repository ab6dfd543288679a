/**
 * Reading the objects of providers. They are open structures that change under us: what decides is asked for strictly,
 * so that an object which is not what we think is parked and seen; what only helps counts as absent where it looks odd,
 * so that nobody's refund goes unseen for it.
 */
import { objectIdentity, objectReference, ProviderId, type ProviderKind } from '@backstop/contracts'
import { z } from 'zod'
import type { Normalised, Observed } from './sighting.ts'

/** What normalising an object answers: everything but a hint. */
export type Meaning = Exclude<Normalised, { kind: 'hint' }>

/** How an object came to us: what its meaning needs beyond itself. */
export interface Telling {
  readonly projectId: string
  /** The provider's site, where ids are unique only within one. */
  readonly site: string | null
  /** When the provider told it, in milliseconds since the epoch; null where its event does not say. */
  readonly toldAt: number | null
}

/** What an object of one type means. */
export type ObjectMeaning<T extends Telling = Telling> = (
  telling: T,
  object: Readonly<Record<string, unknown>>,
) => Meaning

/** Ids appear bare or, where the account expands them, as objects. */
export const Id = z.union([ProviderId, z.object({ id: ProviderId }).transform(object => object.id)])

/** Seconds since the epoch, up to the year 9999 (what is beyond was given in milliseconds), as milliseconds. */
export const UnixTime = z
  .int()
  .min(0)
  .max(253_402_300_799)
  .transform(seconds => seconds * 1000)

/** RFC 3339, with up to microseconds, as milliseconds since the epoch. */
export const TextTime = z.iso.datetime({ offset: true }).transform(text => Date.parse(text))

/** ISO 4217 in any case, as lower case. */
export const CurrencyCode = z
  .string()
  .regex(/^[A-Za-z]{3}$/)
  .transform(code => code.toLowerCase())

/** An amount in minor units: of a currency without decimals, whole units. */
export const MinorUnits = z.int().min(0)

/** A field that only helps: null where it is absent or odd. */
export function helpful<Output>(schema: z.ZodType<Output>) {
  return schema.nullable().catch(null).default(null)
}

/** Reads an object by its schema; what does not fit is malformed, and says where. */
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
 * Names an object by its project, its provider and its own id. Account and mode are no part of it: the providers' ids
 * are unique over both, their own APIs show objects without them, and one refund that two connections see is one refund.
 * @param belongsTo ids of the payment or subscription, the one that people see first; empty values are passed over
 */
export function nameObject(
  telling: Telling,
  provider: ProviderKind,
  type: string,
  id: string,
  belongsTo: readonly (string | null | undefined)[],
): Observed {
  const objectIds = [...new Set(belongsTo.filter(other => typeof other === 'string'))]
  const site = telling.site ?? undefined
  return {
    provider,
    identity: objectIdentity(telling.projectId, provider, site, type, id),
    refs: [...new Set([...objectIds, id])].map(name => objectReference(telling.projectId, provider, site, name)),
    objectIds,
    subject: objectIds[0] ?? id,
  }
}
