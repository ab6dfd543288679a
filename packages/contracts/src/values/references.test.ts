import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { providerIds } from '../../test/provider-ids.ts'
import { idempotencyReference, idInReference, objectIdentity, objectReference, siblingReference } from './references.ts'

const sites = fc.option(fc.constantFrom('acme', 'acme-test'), { nil: undefined })
const providers = fc.constantFrom('processor' as const, 'reseller' as const, 'subscription' as const)

describe('a reference', () => {
  test('returns its id unchanged, whatever the id holds', () => {
    fc.assert(
      fc.property(providers, sites, providerIds(), (provider, site, id) => {
        expect(idInReference(objectReference('prj_1', provider, site, id))).toBe(id)
        expect(idInReference(idempotencyReference('prj_1', provider, id))).toBe(id)
      }),
    )
  })

  test('is unique among objects, keys and identities, whatever the ids hold', () => {
    const named = fc.record({ provider: providers, site: sites, id: providerIds() })
    const all = ({
      provider,
      site,
      id,
    }: {
      provider: 'processor' | 'reseller' | 'subscription'
      site: string | undefined
      id: string
    }) => ({
      object: objectReference('prj_1', provider, site, id),
      refund: objectIdentity('prj_1', provider, site, 'refund', id),
      charge: objectIdentity('prj_1', provider, site, 'charge', id),
      key: idempotencyReference('prj_1', provider, id),
    })
    fc.assert(
      fc.property(named, named, (a, b) => {
        const [ofA, ofB] = [all(a), all(b)]
        expect(ofA.object === ofB.object).toBe(a.provider === b.provider && a.site === b.site && a.id === b.id)
        expect(ofA.refund === ofB.refund).toBe(a.provider === b.provider && a.site === b.site && a.id === b.id)
        expect(ofA.refund).not.toBe(ofB.charge)
        expect(ofA.object).not.toBe(ofB.key)
      }),
    )
  })

  test.for([
    { name: 'a slash', id: 'a/b', other: objectReference('prj_1', 'subscription', 'a', 'b') },
    { name: 'the place of keys', id: 'idempotency_key/k', other: idempotencyReference('prj_1', 'subscription', 'k') },
    { name: 'a percent sign', id: 'a%2Fb', other: objectReference('prj_1', 'subscription', undefined, 'a/b') },
  ])('of an id with $name is not that of what the id looks like', ({ id, other }) => {
    expect(objectReference('prj_1', 'subscription', undefined, id)).not.toBe(other)
  })

  test('gives the reference of another object at the same provider', () => {
    const reference = objectReference('prj_1', 'subscription', 'acme', 'a/b')
    expect(siblingReference(reference, 'c/d')).toBe(objectReference('prj_1', 'subscription', 'acme', 'c/d'))
  })

  test('contains an ordinary id unchanged', () => {
    expect(objectReference('prj_1', 'processor', undefined, 'pi_1')).toBe('prj_1/processor/pi_1')
    expect(objectReference('prj_1', 'subscription', 'acme', 'Söhne & Co')).toBe('prj_1/subscription/acme/Söhne & Co')
  })
})

test.for([
  { name: 'an object', reference: objectReference('prj_1', 'processor', undefined, 'pi_\ud800') },
  { name: 'an object of a site', reference: objectReference('prj_1', 'subscription', 'acme', '\udfff1') },
  { name: 'an idempotency key', reference: idempotencyReference('prj_1', 'processor', 'k\ud800') },
])('the reference of $name stays what it is when it is stored as UTF-8', ({ reference }) => {
  expect(Buffer.from(reference).toString()).toBe(reference)
})
