import { type WebhookUrlConfig, webhookUrlForm } from '../webhook-url/form.ts'

export type SlackConfig = WebhookUrlConfig<'slack'>

export const slackForm = webhookUrlForm('slack', {
  names: ['hooks.slack.com', 'hooks.slack-gov.com'],
  remedy: 'Give the URL of an incoming webhook as Slack shows it, https://hooks.slack.com/…',
})
