/** A fourth provider is made as docs/adding-a-provider.md says: by a folder, its line in the registry, and samples. */
import { createHmac } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { PROVIDERS } from '../src/registry.ts'
import { wallet } from './fourth-provider/index.ts'
import { WALLET_EVENTS, WALLET_OBJECTS } from './fourth-provider/samples/index.ts'
import { describeMeaning } from './meaning-suite.ts'
import { describeProvider } from './provider-suite.ts'
import { json } from './read-back/answers.ts'
import { useSetting } from './read-back/setting.ts'
import type { TestSigner } from './sign.ts'

const ROOT = new URL('../../../', import.meta.url)
const PAGE = readFileSync(new URL('docs/adding-a-provider.md', ROOT), 'utf8')
const FOLDER = 'packages/providers/test/fourth-provider/'

const SIGNER: TestSigner = {
  header: 'wallet-signature',
  covers: { body: true, time: true },
  sign(body, secrets, atMs) {
    const t = Math.floor(atMs / 1000)
    const one = (secret: string) => `s=${createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')}`
    return [`t=${t}`, ...secrets.map(one)].join(',')
  },
}

describeProvider(wallet, SIGNER)
describeMeaning(wallet, {
  events: WALLET_EVENTS,
  objects: WALLET_OBJECTS,
  decisive: /^return(\.(id|cents|currency|made))?$/,
})

describe('a fourth provider', () => {
  const setting = useSetting(wallet, () => Promise.reject(new Error('The wallet has no account on the simulator')))

  test('is read back through what the others share, and a pushed refund and a read one are the same', async () => {
    const server = await setting.serve(json(200, WALLET_OBJECTS.return))
    const read = await setting.find(setting.openReader(server.url), setting.refundTargets('ret_1'))
    const origin = { projectId: 'prj_1', connectionId: 'con_1', eventId: 'evt_1', eventType: 'return.made' }
    expect(wallet.normaliseEvent(origin, WALLET_EVENTS['return.made'])).toEqual({
      kind: 'observed',
      observations: read,
    })
  })

  test('is a line in the registry', () => {
    const registry = { ...PROVIDERS, wallet }
    expect(Object.entries(registry).every(([name, provider]) => provider.kind === name)).toBe(true)
  })

  test('has the files that every provider has', () => {
    const files = ['authenticate.ts', 'identify.ts', 'index.ts', 'normalise.ts', 'read-back.ts', 'samples']
    const folders = [FOLDER, ...Object.keys(PROVIDERS).map(kind => `packages/providers/src/${kind}/`)]
    for (const folder of folders) expect(readdirSync(new URL(folder, ROOT))).toEqual(expect.arrayContaining(files))
    for (const file of files) expect(PAGE).toContain(`\`${file}\``)
  })
})

describe('docs/adding-a-provider.md', () => {
  test('shows the code as it is', () => {
    const shown = [...PAGE.matchAll(/`([\w-]+\.ts)`:\n\n```ts\n([\s\S]*?)```/g)]
    expect(shown.length).toBeGreaterThan(1)
    for (const [, file, code] of shown) {
      const text = readFileSync(new URL(`${FOLDER}${file}`, ROOT), 'utf8')
      // In its own folder under src a provider finds what is shared one level up.
      expect(code).toBe(text.replaceAll("'../../src/", "'../"))
    }
  })

  test('names files that exist', () => {
    const named = [...PAGE.matchAll(/`((?:packages|services|docs)\/[\w./-]+)`/g)].map(([, path]) => path as string)
    expect(named.length).toBeGreaterThan(5)
    expect(named.filter(path => !existsSync(new URL(path, ROOT)))).toEqual([])
  })
})
