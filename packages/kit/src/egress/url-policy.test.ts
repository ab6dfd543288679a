import { describe, expect, test } from 'vitest'
import { BLOCKED_URLS } from '../../test/egress-vectors.ts'
import { createAddressPolicy } from './address-policy.ts'
import { createUrlJudge, hostWithoutBrackets, judgeUrl } from './url-policy.ts'

const createPolicy = (allowCidrs: string[], denyCidrs: string[] = []) => createAddressPolicy({ allowCidrs, denyCidrs })
const closed = createPolicy([])
const local = createPolicy(['127.0.0.0/8', '::1/128'])

describe('a URL is judged when it is written', () => {
  test('there are at least sixty vectors', () => expect(BLOCKED_URLS.length).toBeGreaterThanOrEqual(60))

  const known = BLOCKED_URLS.filter(vector => vector.reason !== 'resolved_address')
  test.each(known)('$name is refused as $reason', ({ url, reason }) => {
    expect(judgeUrl(url, closed)).toMatchObject({ kind: 'refused', reason })
  })

  const fine = [
    { name: 'a public name', url: 'https://hooks.example.com/services/T0/B0/x?y=1' },
    { name: 'a public name with a trailing dot', url: 'https://hooks.example.com./x' },
    { name: 'the other port', url: 'https://hooks.example.com:8443/x' },
    { name: 'a public IPv4 literal', url: 'https://93.184.215.14/x' },
    { name: 'a public IPv6 literal', url: 'https://[2606:4700::1]/x' },
    { name: 'an international name', url: 'https://bücher.example/x' },
    { name: 'a name that only ends like a private one', url: 'https://notlocalhost.com/' },
  ]
  test.each(fine)('$name is acceptable', ({ url }) => {
    expect(judgeUrl(url, closed)).toMatchObject({ kind: 'acceptable', demand: 'public' })
  })

  test('a refusal never repeats the URL, which may hold a secret', () => {
    for (const { url } of BLOCKED_URLS.filter(vector => vector.url.includes('example'))) {
      const verdict = judgeUrl(`${url}`, closed)
      if (verdict.kind === 'refused') expect(verdict.message).not.toContain('example.com')
    }
  })
})

describe('an allowed network loosens the rules for itself alone', () => {
  const rows = [
    { name: 'plain http to an allowed address', url: 'http://127.0.0.1:9000/x', verdict: 'acceptable' },
    { name: 'any port of an allowed address', url: 'https://127.0.0.1:1/x', verdict: 'acceptable' },
    { name: 'localhost', url: 'http://localhost:9000/x', verdict: 'acceptable' },
    { name: 'an allowed IPv6 address', url: 'http://[::1]:9000/x', verdict: 'acceptable' },
    { name: 'an allowed address in mapped form', url: 'http://[::ffff:127.0.0.1]:9000/x', verdict: 'acceptable' },
    { name: 'a name without a dot, until it is resolved', url: 'http://receiver:8080/x', verdict: 'acceptable' },
    { name: 'another private address', url: 'http://10.0.0.1/x', verdict: 'refused' },
    { name: 'plain http to a public name', url: 'http://hooks.example.com/x', verdict: 'refused' },
    { name: 'another port of a public name', url: 'https://hooks.example.com:9000/x', verdict: 'refused' },
    { name: 'plain http to a public address', url: 'http://93.184.215.14/x', verdict: 'refused' },
    { name: 'credentials at an allowed address', url: 'http://a:b@127.0.0.1/x', verdict: 'refused' },
  ]
  test.each(rows)('$name is $verdict', ({ url, verdict }) => {
    const judged = judgeUrl(url, local)
    expect(judged.kind).toBe(verdict)
    if (judged.kind === 'acceptable') expect(judged.demand).toBe('allowed')
  })

  test('localhost needs loopback to be allowed, not just any network', () => {
    expect(judgeUrl('http://localhost/', createPolicy(['10.0.0.0/8']))).toMatchObject({ kind: 'refused' })
  })

  test('metadata services stay blocked inside an allowed network', () => {
    expect(judgeUrl('http://169.254.169.254/', createPolicy(['169.254.0.0/16']))).toMatchObject({ kind: 'refused' })
  })

  test.each([
    { name: 'NAT64', network: '64:ff9b::/96', host: '[64:ff9b::169.254.169.254]' },
    { name: '6to4', network: '2002::/16', host: '[2002:a9fe:a9fe::1]' },
    { name: 'compatible', network: '::/0', host: '[::169.254.169.254]' },
    { name: 'translated', network: '::/0', host: '[::ffff:0:169.254.169.254]' },
  ])('and in the $name form too, which leads there', ({ network, host }) => {
    expect(judgeUrl(`http://${host}/`, createPolicy([network]))).toMatchObject({ kind: 'refused' })
  })

  test('the deny list holds for the IPv6 forms of its addresses', () => {
    const policy = createPolicy(['64:ff9b::/96'], ['10.0.0.0/8'])
    expect(judgeUrl('http://[64:ff9b::10.1.2.3]/', policy)).toMatchObject({ kind: 'refused' })
    expect(judgeUrl('http://[64:ff9b::192.168.1.1]/', policy)).toMatchObject({ kind: 'acceptable' })
    expect(judgeUrl('https://93.184.215.14/', createPolicy([], ['::ffff:93.184.215.0/120']))).toMatchObject({
      kind: 'refused',
    })
  })

  test('the deny list wins over the allow list and over public addresses', () => {
    expect(judgeUrl('http://10.0.0.1/', createPolicy(['10.0.0.0/8'], ['10.0.0.1']))).toMatchObject({ kind: 'refused' })
    expect(judgeUrl('https://93.184.215.14/', createPolicy([], ['93.184.215.0/24']))).toMatchObject({ kind: 'refused' })
  })

  test('a list entry that is no network refuses to start', () => {
    expect(() => createPolicy(['10.0.0.0/40'])).toThrow(/is not a network/)
    expect(() => createPolicy(['everything'])).toThrow(/is not a network/)
    // ipaddr.js would parse these entries as 0.0.0.10, 10.0.0.1 and 8.0.0.0/8.
    for (const lax of ['10', '10.1/16', '010.0.0.0/8']) expect(() => createPolicy([lax])).toThrow(/is not a network/)
  })
})

describe('a judge that remembers', () => {
  /** A judge that counts how often it classifies an address. */
  function open() {
    let looks = 0
    const classify = (address: string) => {
      looks += 1
      return local.classify(address)
    }
    const judge = createUrlJudge({ ...local, classify })
    return { judge, looks: () => looks }
  }

  test('keeps what it said of an origin, and no URL: what follows the host may be a secret', () => {
    const { judge, looks } = open()
    const first = judge('http://127.0.0.1:9000/services/T0/B0/secret')
    const again = judge('http://127.0.0.1:9000/services/T0/B0/secret')
    const other = judge('http://127.0.0.1:9000/other')
    expect(again).toEqual(first)
    if (first.kind === 'refused' || again.kind === 'refused' || other.kind === 'refused') throw new Error('refused')
    expect(again.url).not.toBe(first.url)
    expect(other.url.pathname).toBe('/other')
    expect(looks()).toBe(1)
  })

  test('knows the scheme, the host and the port apart', () => {
    const { judge } = open()
    expect(judge('https://hooks.example.com/x').kind).toBe('acceptable')
    expect(judge('http://hooks.example.com/x')).toMatchObject({ kind: 'refused', reason: 'scheme' })
    expect(judge('https://hooks.example.com:9000/x')).toMatchObject({ kind: 'refused', reason: 'port' })
    expect(judge('https://10.0.0.1/x')).toMatchObject({ kind: 'refused', reason: 'literal_address' })
    expect(judge('https://hooks.example.com:443/y').kind).toBe('acceptable')
  })

  test('begins anew at 10,000 origins, so that its memory is bounded', () => {
    const { judge, looks } = open()
    for (let port = 1; port <= 10_000; port += 1) judge(`http://127.0.0.1:${port}/`)
    judge('http://127.0.0.1:1/')
    expect(looks()).toBe(10_000)
    judge('http://127.0.0.1:10001/')
    judge('http://127.0.0.1:1/')
    expect(looks()).toBe(10_002)
  })

  test('refuses what a URL holds beside an origin that it knows as acceptable', () => {
    const { judge } = open()
    judge('https://hooks.example.com/x')
    expect(judge('https://a:b@hooks.example.com/x')).toMatchObject({ kind: 'refused', reason: 'credentials' })
    expect(judge('https://hooks.example.com/x#y')).toMatchObject({ kind: 'refused', reason: 'fragment' })
  })
})

describe('at the limits', () => {
  const urlOf = (length: number) => `https://example.com/${'a'.repeat(length - 'https://example.com/'.length)}`
  /** A host name with labels of 49 characters and a last label that fills the rest. */
  const hostOf = (length: number) => `${'a'.repeat(49)}.`.repeat(5) + 'b'.repeat(length - 250)

  test('a URL of 2,048 characters is accepted, a longer one is not', () => {
    expect(judgeUrl(urlOf(2_048), closed).kind).toBe('acceptable')
    expect(judgeUrl(urlOf(2_049), closed)).toMatchObject({ kind: 'refused', reason: 'too_long' })
  })

  test('a host of 253 characters is accepted, a longer one is not', () => {
    expect(judgeUrl(`https://${hostOf(253)}/`, closed).kind).toBe('acceptable')
    expect(judgeUrl(`https://${hostOf(254)}/`, closed)).toMatchObject({ kind: 'refused', reason: 'host_name' })
  })

  test.each(['https://user@example.com/', 'https://:password@example.com/'])('credentials are refused: %s', url => {
    expect(judgeUrl(url, closed)).toMatchObject({ kind: 'refused', reason: 'credentials' })
  })

  test('a name without a dot is private, and allowed where a network is', () => {
    expect(judgeUrl('https://mongo/', closed)).toMatchObject({ kind: 'refused', reason: 'host_name' })
    expect(judgeUrl('http://mongo/', createPolicy(['10.0.0.0/8']))).toMatchObject({
      kind: 'acceptable',
      demand: 'allowed',
    })
  })

  test.each(['localhost', 'shop.localhost'])('%s needs one of the loopback addresses to be allowed', host => {
    const judge = (allowed: string[]) => judgeUrl(`http://${host}/`, createPolicy(allowed)).kind
    expect(judge(['10.0.0.0/8'])).toBe('refused')
    expect(judge(['127.0.0.0/8'])).toBe('acceptable')
    expect(judge(['::1/128'])).toBe('acceptable')
  })

  test('localhost.example.internal is a private name like any other', () => {
    expect(judgeUrl('http://localhost.example.internal/', createPolicy(['10.0.0.0/8'])).kind).toBe('acceptable')
  })
})

describe('brackets of a host', () => {
  test.each([
    { hostname: '[::1]', bare: '::1' },
    { hostname: '[half', bare: '[half' },
    { hostname: 'half]', bare: 'half]' },
  ])('are taken off as a pair only: $hostname', ({ hostname, bare }) => {
    expect(hostWithoutBrackets(hostname)).toBe(bare)
  })
})
