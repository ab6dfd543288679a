import type { AuditChainDocument } from '@backstop/contracts'
import type { Clock } from '@backstop/kit/clock'
import type { Secret } from '@backstop/kit/config'
import type { HostList } from '@backstop/kit/egress'
import type { AppError } from '@backstop/kit/errors'
import type { Logger } from '@backstop/kit/logger'
import type { Metrics } from '@backstop/kit/ops'
import type { SecretBox } from '@backstop/kit/secret-box'
import type { Budgets, Ledger, Runs } from '@backstop/ledger'
import type { AcceptedKey } from './access/authenticate.ts'
import type { ChannelTester } from './commands/channel-tester.ts'
import type { CommandSender, DeadLetterSender, OutcomeWatcher } from './commands/command-sender.ts'
import type { InstallationReaders } from './installation/read-state.ts'
import type { IdentityProvider } from './oidc/identity-provider.ts'
import type { SnsVerifier } from './sns/sns.ts'
import type { ChangeFeed } from './store/change-feed.ts'
import type { SearchIndex } from './store/search-index.ts'
import type { ReadCollections } from './store/stores.ts'

/** The services and settings that the routes use. */
export interface AdminParts {
  /** For reading. Changes are made by `RouteRequest.change`, which also writes the audit row. */
  readonly stores: ReadCollections
  readonly ledger: Pick<Ledger, 'record' | 'transition' | 'decide' | 'get' | 'list' | 'projectOf'>
  readonly budgets: Budgets
  readonly runs: Runs
  readonly secretBox: SecretBox
  /** Resolves when the rows of this process's changes to operations are in the audit. */
  flushAuditRows(): Promise<void>
  /** The newest signed head of the audit chain that this process has seen; undefined if it has seen none. */
  auditHead(): AuditChainDocument | undefined
  readonly channelTester: ChannelTester
  readonly commands: CommandSender
  readonly deadLetters: DeadLetterSender
  readonly outcomes: OutcomeWatcher
  readonly search: SearchIndex
  /** The state of all services, from their collections. */
  readonly installation: InstallationReaders
  /** The changes that live streams report. */
  readonly changeFeed: ChangeFeed
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  /** Aborted when the process stops. */
  readonly stopping: AbortSignal
  /** Checks the credentials of mail providers. Without a token, their reports are refused. */
  readonly mailEvents: { readonly token: Secret | undefined; readonly sns: SnsVerifier }
  /** Name of the product in messages of projects without a name of their own. */
  readonly brandName: string
  /** Base URL of the console without a trailing slash, for the links in previews; null if this installation has none. */
  readonly consolePublicUrl: string | null
  /** Checks a URL that a user set against the network policy (kit/egress). */
  checkUrl(url: string): AppError | undefined
  /** Hosts that an `api_base` may name in addition to the provider's own. */
  readonly apiBaseHosts: HostList
  /** Hosts that channels may name in addition to those of their service, for example Slack. */
  readonly channelHosts: HostList
  /**
   * Returns the usable API key that somebody signs in with.
   * @throws AppError `unauthenticated`
   */
  authenticateKey(key: Secret, now: Date): Promise<AcceptedKey>
  /** The OpenID Connect provider; undefined if the operator set none. */
  readonly identityProvider: IdentityProvider | undefined
  /** Base URL of this API and the console, for sign-in links. */
  readonly publicUrl: string
  /** Explained actions may be archived this many days after their first record; 0 keeps them for ever. */
  readonly archiveAfterDays: number
  /** Base URL of ingress: the start of the `inbound_url` of each connection. */
  readonly ingressPublicUrl: string
}
