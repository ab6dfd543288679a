/** Checks the fourth provider, the example of docs/adding-a-provider.md, and the code that the page shows. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { wallet } from './fourth-provider/index.ts'
import { WALLET_EVENTS, WALLET_OBJECTS } from './fourth-provider/samples/index.ts'
import { describeMeaning } from './meaning-suite.ts'
import { describeProvider } from './provider-suite.ts'
import { describeReadBack } from './read-back-suite.ts'
import { WALLET_REFUSALS, WALLET_SAMPLES, WALLET_SIGNER } from './wallet.ts'
import { openWalletAccount } from './wallet-account.ts'

const ROOT = new URL('../../../', import.meta.url)
const PAGE = readFileSync(new URL('docs/adding-a-provider.md', ROOT), 'utf8')
const FOLDER = 'packages/providers/test/fourth-provider/'

describeProvider(wallet, WALLET_SIGNER)
describeMeaning(wallet, WALLET_SAMPLES)
describeReadBack(wallet, openWalletAccount, WALLET_REFUSALS)

describe('a fourth provider', () => {
  test('gives the same sighting for a pushed refund and for a refund that was read', () => {
    const origin = { projectId: 'prj_1', connectionId: 'con_1' }
    const pushed = wallet.normaliseEvent(
      { ...origin, eventId: 'evt_1', eventType: 'return.made' },
      WALLET_EVENTS['return.made'],
    )
    expect(wallet.normaliseObject({ ...origin, site: null, readAt: 0 }, 'return', WALLET_OBJECTS.return)).toEqual(
      pushed,
    )
  })

  test('has the files that every provider has', () => {
    const files = ['authenticate.ts', 'identify.ts', 'index.ts', 'normalise.ts', 'read-back.ts']
    const folders = [FOLDER, ...['processor', 'reseller', 'biller'].map(name => `packages/providers/src/${name}/`)]
    for (const folder of folders) expect(readdirSync(new URL(folder, ROOT))).toEqual(expect.arrayContaining(files))
    for (const file of files) expect(PAGE).toContain(`\`${file}\``)
  })
})

describe('docs/adding-a-provider.md', () => {
  test('names files that exist', () => {
    const named = [...PAGE.matchAll(/`((?:packages|services|docs)\/[\w./-]+)`/g)].map(([, path]) => path as string)
    expect(named.length).toBeGreaterThan(5)
    expect(named.filter(path => !existsSync(new URL(path, ROOT)))).toEqual([])
  })
})
