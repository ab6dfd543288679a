import { describe, expect, test } from 'vitest'
import { createAddressPolicy, createNetworkMatcher } from './address-policy.ts'

const createPolicy = (allowCidrs: string[], denyCidrs: string[] = []) => createAddressPolicy({ allowCidrs, denyCidrs })
const closed = createPolicy([])

describe('an address as text', () => {
  test.each([
    { name: 'no address at all', text: 'example.com' },
    { name: 'an address with an interface', text: 'fe80::1%eth0' },
    { name: 'a public address with an interface', text: '2606:4700::1%eth0' },
    { name: 'an address of two parts', text: '8.8' },
    { name: 'an octal address', text: '010.8.8.8' },
    { name: 'nothing', text: '' },
  ])('is blocked as not an address: $name', ({ text }) => {
    expect(closed.classify(text)).toEqual({ kind: 'blocked', reason: 'not_an_address', detail: 'unparsable' })
  })

  test.each([
    { name: 'IPv6 beyond 2000::/3 that no range names', text: '4000::1', detail: 'outside 2000::/3' },
    { name: 'IPv6 beyond 2000::/3 with a range of its own', text: 'fe80::1', detail: 'linkLocal' },
    { name: 'an ISATAP interface id', text: '2606:4700::5efe:7f00:1', detail: 'isatap' },
    { name: 'an ISATAP interface id of a global IPv4 address', text: '2606:4700::200:5efe:808:808', detail: 'isatap' },
  ])('is not public, with the range as detail: $name', ({ text, detail }) => {
    expect(closed.classify(text)).toEqual({ kind: 'blocked', reason: 'not_public', detail })
  })

  // The last address ends like 10.0.0.1, but its prefix belongs to no translator.
  test.each(['2606:4700::1', '2606:4700::1:5efe:808:808', '2606:4700::5eff:808:808', '8.8.8.8', '2606:4700::a00:1'])(
    'is public: %s',
    text => {
      expect(closed.classify(text)).toEqual({ kind: 'public' })
    },
  )
})

describe('a network of a list', () => {
  test.each([
    { entry: '10.1.2.3', inside: '10.1.2.3', outside: '10.1.2.4' },
    { entry: 'fd00::1', inside: 'fd00::1', outside: 'fd00::2' },
    { entry: '10.1.0.0/16', inside: '10.1.255.255', outside: '10.2.0.0' },
    { entry: 'fd00::/16', inside: 'fd00:ffff::1', outside: 'fd01::1' },
    { entry: '::ffff:10.1.2.3', inside: '10.1.2.3', outside: '10.1.2.4' },
    { entry: '::ffff:10.1.0.0/112', inside: '10.1.255.255', outside: '10.2.0.0' },
    { entry: '::ffff:0.0.0.0/96', inside: '10.1.2.3', outside: 'fd00::1' },
  ])('allows what lies in $entry and nothing beside it', ({ entry, inside, outside }) => {
    const policy = createPolicy([entry])
    expect(policy.classify(inside)).toEqual({ kind: 'allowed' })
    expect(policy.classify(outside)).toMatchObject({ kind: 'blocked', reason: 'not_public' })
  })

  test.each(['::/0', '::ffff:0:0/90'])('leaves IPv4 out when it is wider than all mapped addresses: %s', entry => {
    expect(createPolicy([entry]).classify('10.1.2.3')).toMatchObject({ kind: 'blocked', reason: 'not_public' })
  })

  test('is refused with the code of a wrong setting when it cannot be read', () => {
    expect(() => createPolicy(['10.0.0.0/40'])).toThrow(expect.objectContaining({ code: 'config_invalid' }))
  })

  test('keeps what stopped the reading as the cause', () => {
    expect(() => createPolicy(['everything'])).toThrow(expect.objectContaining({ cause: expect.any(Error) }))
  })
})

describe('a matcher of networks', () => {
  test.each([
    { cidrs: ['10.0.0.0/8', 'fd00::/16'], address: '10.1.2.3', isIn: true },
    { cidrs: ['10.0.0.0/8', 'fd00::/16'], address: 'fd00::1', isIn: true },
    { cidrs: ['10.0.0.0/8', 'fd00::/16'], address: '11.1.2.3', isIn: false },
    { cidrs: ['10.0.0.0/8'], address: '::ffff:10.1.2.3', isIn: true },
    { cidrs: ['0.0.0.0/0', '::/0'], address: 'no address', isIn: false },
    { cidrs: [], address: '10.1.2.3', isIn: false },
  ])('of $cidrs answers $isIn for $address', ({ cidrs, address, isIn }) => {
    expect(createNetworkMatcher(cidrs)(address)).toBe(isIn)
  })

  test('is refused with the code of a wrong setting when a network cannot be read', () => {
    expect(() => createNetworkMatcher(['10/8'])).toThrow(expect.objectContaining({ code: 'config_invalid' }))
  })
})
