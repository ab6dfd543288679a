import { describe, expect, test } from 'vitest'
import { toCycloneDx } from './cyclonedx.ts'
import { deployedPackages, sbom } from './deployed.ts'
import { productionPackages } from './lock-file.ts'

interface Sbom {
  serialNumber: string
  components: { 'bom-ref': string; name: string; version: string; type: string; hashes?: { content: string }[] }[]
  dependencies: { ref: string; dependsOn: string[] }[]
}

describe('the SBOM of the images', () => {
  const document = JSON.parse(sbom()) as Sbom
  const names = document.components.map(({ name }) => name)

  test('lists all production packages, including those that are also development dependencies', () => {
    expect(names).toEqual(
      expect.arrayContaining([
        'kafkajs',
        'mongodb',
        'undici',
        'zod',
        'express',
        'nodemailer',
        'react',
        '@backstop/ingress',
      ]),
    )
  })

  test('lists nothing that is not deployed', () => {
    expect(
      names.filter(name =>
        /^(?:vitest|typescript|testcontainers|stripe|maildev|@backstop\/(?:simulator|stack))$/.test(name),
      ),
    ).toEqual([])
  })

  test('lists the base images with their digests', () => {
    expect(document.components.filter(({ type }) => type === 'container')).toMatchObject([
      { name: expect.stringMatching(/^node:/), version: expect.stringMatching(/^sha256:/) },
      { name: expect.stringMatching(/^debian:/), version: expect.stringMatching(/^sha256:/) },
    ])
  })

  test('names each component once, and has no dependency that it does not list', () => {
    const refs = document.components.map(component => component['bom-ref'])
    expect(new Set(refs).size).toBe(refs.length)
    const known = new Set([...refs, document.dependencies[0]?.ref])
    for (const { ref, dependsOn } of document.dependencies) {
      for (const one of [ref, ...dependsOn]) expect(known).toContain(one)
    }
  })

  test('has the hash of each package from the registry', () => {
    const foreign = deployedPackages().filter(({ path }) => path.includes('node_modules/'))
    expect(foreign.length).toBeGreaterThan(80)
    expect(document.components.filter(({ hashes }) => hashes?.[0]?.content.length === 128)).toHaveLength(foreign.length)
  })

  test('is the same for the same input', () => {
    expect(sbom()).toBe(sbom())
    expect(document.serialNumber).toMatch(
      /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    )
  })
})

describe('the packages of an installation', () => {
  const packages = {
    '': {},
    'packages/a': { name: '@x/a', version: '1.0.0', dependencies: { '@x/b': '*', left: '1' } },
    'packages/b': { name: '@x/b', version: '1.0.0', dependencies: { left: '2' } },
    'packages/b/node_modules/left': { version: '2.0.0', dependencies: { right: '1' } },
    'node_modules/@x/b': { resolved: 'packages/b', link: true },
    'node_modules/left': { version: '1.0.0', optionalDependencies: { gone: '1' } },
    'node_modules/right': {
      version: '1.0.0',
      peerDependencies: { peer: '1', perhaps: '1' },
      peerDependenciesMeta: { perhaps: { optional: true } },
    },
    'node_modules/peer': { version: '1.0.0' },
    'node_modules/perhaps': { version: '1.0.0' },
    'node_modules/other': { version: '1.0.0' },
  }

  test('are resolved like Node does, without optional peers and unused packages', () => {
    expect(productionPackages({ packages }, ['packages/a']).map(({ name, version }) => `${name}@${version}`)).toEqual([
      '@x/a@1.0.0',
      '@x/b@1.0.0',
      'left@1.0.0',
      'left@2.0.0',
      'peer@1.0.0',
      'right@1.0.0',
    ])
  })

  test('are not listed if the lock file lacks a required package', () => {
    const torn = { ...packages, 'node_modules/peer': undefined } as never
    expect(() => productionPackages({ packages: torn }, ['packages/a'])).toThrow(
      'does not hold peer, which node_modules/right',
    )
  })

  test('changes the serial number when its content changes', () => {
    const of = (version: string) =>
      toCycloneDx({ name: 'x', version, license: 'MIT', packages: [], images: [] }).serialNumber
    expect(of('1.0.0')).toBe(of('1.0.0'))
    expect(of('1.0.0')).not.toBe(of('1.0.1'))
  })
})
