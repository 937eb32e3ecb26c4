/** For the tests of your own application: a page that stands in for the editor, and a token endpoint. */
export { type ScriptedAnswer, type ScriptedAssistant, scriptedAssistant } from './testing/assistant.ts';
export type {
  AssistantAnswer,
  OpenedPlugin,
  StandInCommands,
  StandInEditor,
  StandInSettings,
} from './testing/commands.ts';
export { type PluginOptions, type StandInPlugin, standInPlugin } from './testing/dev-server.ts';
export { standInOf, standInTokenEndpoint } from './testing/in-page.ts';
export { standInPage } from './testing/page.ts';
export { type PlaywrightPage, type RouteOptions, routeStandIn } from './testing/playwright.ts';
export { StandInTokens, type TokenTarget } from './testing/tokens.ts';
