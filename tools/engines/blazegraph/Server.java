import com.bigdata.rdf.sail.BigdataSail;
import com.bigdata.rdf.sail.BigdataSailRepository;
import com.bigdata.rdf.sail.BigdataSailRepositoryConnection;
import com.bigdata.rdf.sail.sparql.PrefixDeclProcessor;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.concurrent.Executors;
import java.util.zip.GZIPInputStream;
import org.openrdf.query.BooleanQuery;
import org.openrdf.query.Query;
import org.openrdf.query.QueryLanguage;
import org.openrdf.query.TupleQuery;
import org.openrdf.query.resultio.sparqljson.SPARQLResultsJSONWriter;
import org.openrdf.rio.RDFFormat;
import org.openrdf.rio.helpers.BasicParserSettings;

/**
 * Serves files through Blazegraph at http://127.0.0.1:PORT/sparql. The body of a POST is a query, and the answer is
 * SPARQL JSON. Arguments: PORT PREFIXES FILE...
 */
public class Server {
  static final int SECONDS = 10; // per query, as the harness allows

  public static void main(String[] args) throws Exception {
    org.apache.log4j.BasicConfigurator.configure();
    org.apache.log4j.Logger.getRootLogger().setLevel(org.apache.log4j.Level.FATAL);
    // The query service declares its prefixes in the engine. Name and namespace are separated by a tab.
    for (String line : Files.readAllLines(Path.of(args[1]))) {
      String[] p = line.split("\t");
      PrefixDeclProcessor.defaultDecls.put(p[0], p[1]);
    }
    Properties p = new Properties();
    p.setProperty("com.bigdata.journal.AbstractJournal.bufferMode", "MemStore");
    p.setProperty("com.bigdata.rdf.store.AbstractTripleStore.quads", "false");
    p.setProperty("com.bigdata.rdf.store.AbstractTripleStore.statementIdentifiers", "false");
    p.setProperty("com.bigdata.rdf.store.AbstractTripleStore.textIndex", "false");
    p.setProperty("com.bigdata.rdf.store.AbstractTripleStore.justify", "false");
    p.setProperty("com.bigdata.rdf.store.AbstractTripleStore.axiomsClass", "com.bigdata.rdf.axioms.NoAxioms");
    p.setProperty("com.bigdata.rdf.store.AbstractTripleStore.vocabularyClass", "com.bigdata.rdf.vocab.NoVocabulary");
    p.setProperty("com.bigdata.rdf.sail.truthMaintenance", "false");
    p.setProperty("com.bigdata.rdf.sail.isolatableIndices", "false");
    BigdataSailRepository repo = new BigdataSailRepository(new BigdataSail(p));
    repo.initialize();
    BigdataSailRepositoryConnection c = repo.getUnisolatedConnection();
    c.setAutoCommit(false);
    c.getParserConfig().set(BasicParserSettings.VERIFY_DATATYPE_VALUES, false); // years of five and more digits
    c.getParserConfig().addNonFatalError(BasicParserSettings.VERIFY_DATATYPE_VALUES);
    for (int i = 2; i < args.length; i++) {
      String name = args[i];
      InputStream in = new BufferedInputStream(new FileInputStream(new File(name)));
      if (name.endsWith(".gz")) {
        in = new GZIPInputStream(in, 1 << 16);
        name = name.substring(0, name.length() - 3);
      }
      // A reader, because the parser of N-Triples reads bytes as ASCII.
      c.add(new InputStreamReader(in, StandardCharsets.UTF_8), "http://base.example/", name.endsWith(".nt") ? RDFFormat.NTRIPLES : RDFFormat.TURTLE);
      in.close();
    }
    c.commit();
    c.close();
    HttpServer s = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 16);
    s.setExecutor(Executors.newFixedThreadPool(2));
    s.createContext("/sparql", x -> answer(repo, x));
    s.start();
  }

  static void answer(BigdataSailRepository repo, HttpExchange x) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    int status = 200;
    String text = new String(x.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    try {
      BigdataSailRepositoryConnection c = repo.getReadOnlyConnection();
      try {
        Query q = c.prepareQuery(QueryLanguage.SPARQL, text, "http://base.example/");
        q.setMaxQueryTime(SECONDS);
        if (q instanceof BooleanQuery) {
          out.write(("{\"head\":{},\"boolean\":" + ((BooleanQuery) q).evaluate() + "}").getBytes(StandardCharsets.UTF_8));
        } else {
          ((TupleQuery) q).evaluate(new SPARQLResultsJSONWriter(out));
        }
      } finally {
        c.close();
      }
    } catch (Throwable e) {
      status = 400;
      out.reset();
      Throwable deepest = e;
      while (deepest.getCause() != null) deepest = deepest.getCause();
      out.write((e + "\n" + deepest).getBytes(StandardCharsets.UTF_8));
    }
    x.sendResponseHeaders(status, out.size() == 0 ? -1 : out.size());
    x.getResponseBody().write(out.toByteArray());
    x.close();
  }
}
