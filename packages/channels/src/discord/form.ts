import { type WebhookUrlConfig, webhookUrlForm } from '../webhook-url/form.ts'

export type DiscordConfig = WebhookUrlConfig<'discord'>

export const discordForm = webhookUrlForm('discord', {
  names: ['discord.com', 'ptb.discord.com', 'canary.discord.com', 'discordapp.com'],
  remedy: 'Give the URL of a webhook as Discord shows it, https://discord.com/api/webhooks/…',
})
