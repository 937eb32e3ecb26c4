import type { PluginEditorElement } from '../../src/index.ts';
import { PluginEditor, PluginFeatures } from '../../src/react.ts';
import type {} from '../../src/types/react.d.ts';

/** The required attributes, each of which may be missing at first. */
const needed = { builder: null, ident: undefined, fn: 'add-record' };
const plainly = { ...needed, 'editor-url': '/editor/', 'token-endpoint': '/token' };
const components19 = { ...needed, editorUrl: '/editor/', tokenEndpoint: undefined };

/** Plain elements in React 19. */
export const plain = (
  <>
    <plugin-editor
      {...needed}
      id="editor"
      className="wide"
      editor-url="/editor/"
      token-delivery="message"
      timeout={5000}
      preload
      fetchToken={({ ident, signal }) => Promise.resolve(`${ident} ${signal.aborted}`)}
      strings={{ loading: 'Lade' }}
      ref={(element) => void element?.reload({ discard: true })}
      onplugin-editor-ready={({ confirmed, currentTarget }) => [
        confirmed satisfies boolean,
        currentTarget.state,
      ]}
    />
    <plugin-features
      for="editor"
      value="typescript"
      required
      onplugin-features-load={({ record }) => record.languages}
    />
    {/* @ts-expect-error an attribute's name is its own */}
    <plugin-editor {...plainly} editorUrl="/editor/" />
    {/* @ts-expect-error there is no such delivery */}
    <plugin-editor {...plainly} token-delivery="pigeon" />
    {/* @ts-expect-error the plugin is missing */}
    <plugin-editor editor-url="/editor/" builder="" ident="" token-endpoint="/token" />
    {/* @ts-expect-error there is no source of tokens */}
    <plugin-editor {...needed} editor-url="/editor/" />
    {/* @ts-expect-error an event has its own fields */}
    <plugin-editor {...plainly} onplugin-editor-ready={({ version }) => version} />
    {/* @ts-expect-error a flag is true or false */}
    <plugin-features required="yes please" />
  </>
);

const ref: { current: PluginEditorElement | null } = { current: null };

/** The components. */
export const components = (
  <>
    <PluginEditor {...components19} />
    <PluginEditor
      ref={ref}
      key="editor"
      className="wide"
      editorUrl="/editor/"
      builder="https://builder.example.com"
      ident={null}
      tokenMethod="get"
      fn={undefined}
      fetchToken={() => Promise.resolve({ token: 't', expires_in: 60 })}
      onPluginEditorDeploy={({ version, fn }) => `${version satisfies string} ${fn}`}
      onClick={(event) => void event.currentTarget.close()}
    >
      <p slot="idle">Choose a plugin</p>
    </PluginEditor>
    <PluginFeatures
      htmlFor="editor"
      value="typescript"
      onChange={(event) => event.currentTarget.value satisfies string}
      onPluginFeaturesError={({ error }) => error.message}
    />
    {/* @ts-expect-error a property's name is in camel case */}
    <PluginEditor {...components19} editorurl="/editor/" />
    {/* @ts-expect-error the plugin is missing */}
    <PluginEditor editorUrl="/editor/" builder="" ident="" tokenEndpoint="/token" />
    {/* @ts-expect-error there is no source of tokens */}
    <PluginEditor {...needed} editorUrl="/editor/" />
    {/* @ts-expect-error there is no such method */}
    <PluginEditor {...components19} tokenMethod="put" />
    {/* @ts-expect-error an event has its own fields */}
    <PluginEditor {...components19} onPluginEditorReady={({ version }) => version} />
    {/* @ts-expect-error the ref is the other element */}
    <PluginFeatures ref={ref} />
    {/* @ts-expect-error what is read-only cannot be set */}
    <PluginEditor {...components19} dirty />
  </>
);

/** An assistant is a property. */
export const assisted = (
  <>
    <PluginEditor
      {...components19}
      assistant={async function* ({ prompt }) {
        yield prompt;
      }}
    />
    {/* @ts-expect-error an assistant returns a stream */}
    <PluginEditor {...components19} assistant={({ prompt }) => prompt} />
  </>
);
