import type { AppError, HostList, Secret, SecretBox } from '@backstop/kit'
import type { Budgets, Ledger, Runs } from '@backstop/ledger'
import type { ChannelTester } from './messages/channel-tester.ts'
import type { CommandSender } from './messages/command-sender.ts'
import type { DeadLetterSender } from './messages/dead-letter-sender.ts'
import type { OutcomeWatcher } from './messages/outcome-watcher.ts'
import type { SnsVerifier } from './sns/sns.ts'
import type { ReadCollections } from './store/stores.ts'

/** The services and settings that the routes use. */
export interface AdminParts {
  /** For reading. Changes are made by `RouteRequest.change`, which also writes the audit row. */
  readonly stores: ReadCollections
  readonly ledger: Pick<Ledger, 'record' | 'transition' | 'decide' | 'get' | 'list'>
  readonly budgets: Budgets
  readonly runs: Runs
  readonly secretBox: SecretBox
  readonly channelTester: ChannelTester
  readonly commands: CommandSender
  readonly deadLetters: DeadLetterSender
  readonly outcomes: OutcomeWatcher
  /** Checks the credentials of mail providers. Without a token, their reports are refused. */
  readonly mailEvents: { readonly token: Secret | undefined; readonly sns: SnsVerifier }
  /** Name of the product in messages of projects without a name of their own. */
  readonly brandName: string
  /** Checks a URL that a user set against the network policy (kit/egress). */
  checkUrl(url: string): AppError | undefined
  /** Hosts that an `api_base` may name in addition to the provider's own. */
  readonly apiBaseHosts: HostList
  /** Hosts that channels may name in addition to those of their service, for example Slack. */
  readonly channelHosts: HostList
  /** Base URL of ingress: the start of the `inbound_url` of each connection. */
  readonly ingressPublicUrl: string
}
