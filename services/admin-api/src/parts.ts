import type { AppError, HostList, Secret, SecretBox } from '@backstop/kit'
import type { Budgets, Ledger, Runs } from '@backstop/ledger'
import type { ChannelTester } from './messages/channel-tester.ts'
import type { CommandSender } from './messages/command-sender.ts'
import type { DeadLetterSender } from './messages/dead-letter-sender.ts'
import type { OutcomeWatcher } from './messages/outcome-watcher.ts'
import type { SnsVerifier } from './sns/sns.ts'
import type { ReadShelves } from './store/stores.ts'

/** What the routes work with. */
export interface AdminParts {
  /** To read. What is changed is changed by `RouteRequest.change`, which leaves its audit row. */
  readonly stores: ReadShelves
  readonly ledger: Pick<Ledger, 'record' | 'transition' | 'decide' | 'get' | 'list'>
  readonly budgets: Budgets
  readonly runs: Runs
  readonly secretBox: SecretBox
  readonly channelTester: ChannelTester
  readonly commands: CommandSender
  readonly deadLetters: DeadLetterSender
  readonly outcomes: OutcomeWatcher
  /** What mail providers prove themselves with; no token: no reports are taken. */
  readonly mailEvents: { readonly token: Secret | undefined; readonly sns: SnsVerifier }
  /** The name that messages carry where a project has none of its own. */
  readonly brandName: string
  /** The policy for URLs that users set (kit/egress). */
  checkUrl(url: string): AppError | undefined
  /** Hosts that an api_base may name beside the provider's own. */
  readonly apiBaseHosts: HostList
  /** Hosts that a Slack channel may name beside Slack's own. */
  readonly slackHosts: HostList
  /** What the inbound_url of a connection begins with. */
  readonly ingressPublicUrl: string
}
