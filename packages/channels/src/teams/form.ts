import { type WebhookUrlConfig, webhookUrlForm } from '../webhook-url/form.ts'

export type TeamsConfig = WebhookUrlConfig<'teams'>

/** @see https://learn.microsoft.com/en-us/power-automate/ip-address-configuration */
export const teamsForm = webhookUrlForm('teams', {
  names: ['*.logic.azure.com', '*.api.powerplatform.com'],
  remedy:
    'Give the URL of a workflow that starts when a Teams webhook request is received, as Teams shows it, https://….logic.azure.com/… or https://….api.powerplatform.com/…',
})
