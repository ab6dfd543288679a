/** The product, the browser and the OpenID Connect provider that the tests of console.system-test.ts share. */
import { choosePorts } from '@backstop/stack'
import type { Product } from '../../scripts/start/product.ts'
import {
  CLIENT_ID,
  CLIENT_SECRET,
  type LocalProvider,
  startLocalProvider,
} from '../../services/admin-api/test/local-provider.ts'
import { openProduct } from '../setup/product.ts'
import { type ConsoleBrowser, openConsoleBrowser } from './console-browser.ts'

export interface SharedConsole {
  readonly product: Product
  readonly browser: ConsoleBrowser
  readonly provider: LocalProvider
}

const RECHECK_MS = 1_000

const stops: (() => Promise<void>)[] = []
let shared: SharedConsole | undefined

/** @throws Error before openSharedConsole */
export function sharedConsole(): SharedConsole {
  if (shared === undefined) throw new Error('The product of the console tests is not started')
  return shared
}

export async function openSharedConsole(): Promise<void> {
  // The provider leads browsers back to one address only, so it needs the port before the product starts.
  const { admin } = await choosePorts({ admin: {} })
  const provider = await startLocalProvider(`http://127.0.0.1:${admin}/v1/sign-in/oidc/callback`)
  stops.push(provider.stop)
  const oidc = { OIDC_ISSUER: provider.issuer, OIDC_CLIENT_ID: CLIENT_ID, OIDC_CLIENT_SECRET: CLIENT_SECRET }
  const product = await openProduct('console', {
    recheckDelayMs: RECHECK_MS,
    ports: { 'admin-api': admin },
    serviceEnv: { 'admin-api': { ...oidc, OIDC_ROLES: 'finance=viewer' } },
  })
  stops.push(() => product.stop())
  const browser = await openConsoleBrowser()
  stops.push(browser.close)
  shared = { product, browser, provider }
}

export async function closeSharedConsole(): Promise<void> {
  for (const stop of stops.reverse()) await stop()
}
