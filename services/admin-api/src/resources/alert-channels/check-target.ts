import { type ChannelConfigPatch, urlsOf } from '@backstop/channels'
import { createHostList, refuseCustomHeaders } from '@backstop/kit'
import { hasAllowedHost } from '../../http/allowed-host.ts'
import { refusedField } from '../../http/refused-field.ts'
import type { AdminParts } from '../../parts.ts'

/** Hosts of incoming webhooks: of Slack and of GovSlack. */
const SLACK_HOSTS = createHostList(['hooks.slack.com', 'hooks.slack-gov.com'])

/**
 * Refuses URLs that a channel may not deliver to, and headers that it may not send.
 * @param config the config of a new channel, or the changed parts of an existing config
 * @throws AppError `egress_blocked`, `invalid_request`
 */
export function checkTarget(
  { checkUrl, slackHosts }: Pick<AdminParts, 'checkUrl' | 'slackHosts'>,
  config: ChannelConfigPatch,
): void {
  for (const url of urlsOf(config)) {
    const blocked = checkUrl(url)
    if (blocked !== undefined) throw blocked
  }
  const slackUrl = config.webhook_url
  if (slackUrl !== undefined && !hasAllowedHost(SLACK_HOSTS, slackUrl) && !slackHosts.includesHostOf(slackUrl)) {
    throw refusedField(
      'body.config.webhook_url',
      'Give the URL of an incoming webhook as Slack shows it, https://hooks.slack.com/…; an operator allows other hosts by SLACK_ALLOW_HOSTS',
    )
  }
  const fault = config.headers === undefined ? undefined : refuseCustomHeaders(config.headers)
  if (fault !== undefined) throw refusedField('body.config.headers', fault)
}
