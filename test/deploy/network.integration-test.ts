import { BlockList, isIPv6 } from 'node:net'
import { beforeAll, describe, expect, test } from 'vitest'
import { BUNDLES, type Manifest, nameOf, ofBackstop, ofKind, render, workloads } from './rendered.ts'

interface Peer {
  ipBlock?: { cidr: string; except?: string[] }
}
interface Rule {
  to?: Peer[]
  from?: Peer[]
  ports?: { port: number | string; endPort?: number }[]
}
type Labels = Record<string, string>
interface Selector {
  matchLabels?: Labels
  matchExpressions?: { key: string; operator: string; values: string[] }[]
}

const bundles = new Map<string, Manifest[]>()
beforeAll(async () => {
  for (const bundle of BUNDLES) bundles.set(bundle, await render(bundle))
})

const policiesOf = (bundle: string) => ofKind(ofBackstop(bundles.get(bundle) as Manifest[]), 'NetworkPolicy')

describe.each(BUNDLES)('in %s', bundle => {
  test('denies all connections that no policy allows', () => {
    const denials = policiesOf(bundle).filter(({ spec }) => spec.ingress === undefined && spec.egress === undefined)
    expect(denials.map(({ spec }) => spec)).toEqual([{ podSelector: {}, policyTypes: ['Ingress', 'Egress'] }])
  })

  test('no policy allows all peers or all ports', () => {
    const rules = policiesOf(bundle).flatMap(policy =>
      [...(policy.spec.ingress ?? []), ...(policy.spec.egress ?? [])].map((rule: Rule) => ({ policy, rule })),
    )
    expect(rules.length).toBeGreaterThanOrEqual(6)
    for (const { policy, rule } of rules) {
      expect((rule.to ?? rule.from ?? []).length, nameOf(policy)).toBeGreaterThan(0)
      // In the local overlay receivers may listen on any port.
      if (bundle !== 'overlays/local') expect((rule.ports ?? []).length, nameOf(policy)).toBeGreaterThan(0)
    }
  })

  test('every policy selects pods that exist', () => {
    const pods = workloads(ofBackstop(bundles.get(bundle) as Manifest[])).map(
      ({ spec }) => spec.template.metadata.labels,
    )
    for (const policy of policiesOf(bundle)) {
      const matched = pods.filter(labels => selects(policy.spec.podSelector, labels))
      expect(matched.length, nameOf(policy)).toBeGreaterThan(0)
    }
  })
})

describe('the network-policy check', () => {
  const labelsOf = (service: string): Labels => {
    const workload = workloads(bundles.get('overlays/production') as Manifest[]).find(({ metadata }) =>
      metadata.name.startsWith(`backstop-${service}`),
    )
    return workload?.spec.template.metadata.labels
  }
  const policiesFor = (service: string, way: 'ingress' | 'egress') =>
    policiesOf('overlays/production').filter(
      ({ spec }) => spec[way] !== undefined && selects(spec.podSelector, labelsOf(service)),
    )

  test('may reach exactly what the notifier may reach', () => {
    const names = policiesFor('network-policy-check', 'egress').map(nameOf)
    expect(names).toContain('NetworkPolicy/backstop-notifier')
    expect(names).toEqual(policiesFor('notifier', 'egress').map(nameOf))
  })

  test('tries pods that accept it, at a port that no policy lets it reach', () => {
    const opened = policiesFor('admin-api', 'ingress').filter(({ spec }) =>
      spec.ingress.some(({ from, ports }: { from: { podSelector?: Selector }[]; ports: { port: string }[] }) =>
        from.some(
          peer =>
            peer.podSelector && selects(peer.podSelector, labelsOf('network-policy-check')) && ports[0]?.port === 'ops',
        ),
      ),
    )
    expect(opened.map(nameOf)).toEqual(['NetworkPolicy/backstop-network-policy-check'])
    const out = policiesFor('network-policy-check', 'egress').flatMap(({ spec }) => spec.egress as Rule[])
    const holds9090 = ({ ports = [] }: Rule) =>
      ports.some(({ port, endPort }) => port === 9090 || (Number(port) < 9090 && Number(endPort ?? port) >= 9090))
    expect(out.length).toBeGreaterThan(0)
    expect(out.filter(holds9090)).toEqual([])
  })
})

describe('in production, by address, pods may reach', () => {
  const blocks = (): { policy: string; block: { cidr: string; except?: string[] } }[] =>
    policiesOf('overlays/production').flatMap(policy =>
      (policy.spec.egress ?? []).flatMap((rule: Rule) =>
        (rule.to ?? []).flatMap(({ ipBlock }) => (ipBlock ? [{ policy: nameOf(policy), block: ipBlock }] : [])),
      ),
    )
  const reaches = (address: string) => blocks().some(({ block }) => blockContains(block, address))

  test('addresses outside the cluster only if they deliver, read providers or ask Amazon SNS', () => {
    expect(new Set(blocks().map(({ policy }) => policy))).toEqual(
      new Set(['notifier', 'reconciler', 'admin-api'].map(name => `NetworkPolicy/backstop-${name}`)),
    )
  })

  test.each(['93.184.216.34', '8.8.8.8', '172.32.0.1', '2606:2800:220:1::1'])('%s, a public address', address => {
    expect(reaches(address)).toBe(true)
  })

  test.each([
    { name: 'the metadata of most clouds', address: '169.254.169.254' },
    { name: "the metadata of one cloud's IPv6", address: 'fd00:ec2::254' },
    { name: "another cloud's agent", address: '168.63.129.16' },
    { name: 'a third cloud, behind a carrier', address: '100.100.100.200' },
    { name: 'loopback', address: '127.0.0.1' },
    { name: 'loopback, IPv6', address: '::1' },
    { name: 'this network', address: '0.0.0.0' },
    { name: 'private, 10', address: '10.96.0.1' },
    { name: 'private, 172.16', address: '172.31.255.254' },
    { name: 'private, 192.168', address: '192.168.1.1' },
    { name: 'private, IPv6', address: 'fc00::1' },
    { name: 'the own link, IPv6', address: 'fe80::1' },
    { name: 'protocol assignments', address: '192.0.0.192' },
    { name: 'multicast', address: '224.0.0.1' },
    { name: 'broadcast', address: '255.255.255.255' },
    { name: 'IPv4 embedded for translation', address: '64:ff9b::7f00:1' },
    { name: 'IPv4 embedded by 6to4', address: '2002:7f00:1::' },
    { name: 'IPv4 embedded by Teredo', address: '2001:0:7f00:1::' },
    { name: 'IPv4 mapped', address: '::ffff:10.0.0.1' },
  ])('not $name: $address', ({ address }) => {
    expect(reaches(address)).toBe(false)
  })
})

/** True if a selector of a NetworkPolicy matches the labels of a pod. */
function selects({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values }) => operator === 'In' && values.includes(labels[key] ?? ''))
  )
}

function blockContains({ cidr, except = [] }: { cidr: string; except?: string[] }, address: string): boolean {
  return contains(cidr, address) && !except.some(range => contains(range, address))
}

function contains(cidr: string, address: string): boolean {
  const [network = '', prefix] = cidr.split('/')
  const family = (text: string) => (isIPv6(text) ? 'ipv6' : 'ipv4')
  if (family(network) !== family(address)) return false
  const list = new BlockList()
  list.addSubnet(network, Number(prefix), family(network))
  return list.check(address, family(address))
}
